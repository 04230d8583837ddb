import { fault } from "../fault.ts";

/** The decoded target of a request. */
export interface Target {
  /** The whole path, decoded. */
  path: string;
  bucket: string;
  key: string;
  query: readonly (readonly [name: string, value: string])[];
}

/** The first value of a parameter. An empty one is absent: clients send those that are not set that way. */
export const queryIn =
  ({ query }: Target) =>
  (name: string): string | undefined =>
    query.find(([each]) => each === name)?.[1] || undefined;

/** Path style: `/bucket/key?query`. */
export function targetOf(url: string): Target {
  const relative = url.replace(/^https?:\/\/[^/?]*/i, "");
  const mark = relative.indexOf("?");
  const path = decoded(mark < 0 ? relative : relative.slice(0, mark)) || "/";
  const slash = path.indexOf("/", 1);
  return {
    path,
    bucket: slash < 0 ? path.slice(1) : path.slice(1, slash),
    key: slash < 0 ? "" : path.slice(slash + 1),
    query: mark < 0 ? [] : pairsOf(relative.slice(mark + 1)),
  };
}

const pairsOf = (query: string) =>
  query
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const equals = pair.indexOf("=");
      const name = equals < 0 ? pair : pair.slice(0, equals);
      return [spaced(name), equals < 0 ? "" : spaced(pair.slice(equals + 1))] as const;
    });

const spaced = (text: string) => decoded(text.replaceAll("+", " "));

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw fault("InvalidURI", "The URI cannot be decoded");
  }
}

/** Percent-encodes as signatures and `encoding-type=url` want it: everything but letters, digits and `-._~`. */
export const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);

/** Encodes a path or a key; slashes stay. */
export const encodedPath = (path: string) => path.split("/").map(encoded).join("/");
