import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** The requests that the server accepts. */
export interface Admission {
  /** The valid bearer tokens, read at each request. Each token is a separate caller. */
  bearers: () => readonly string[];
  /** Host names under which clients may call the server, besides those of the loopback interface. */
  hosts: readonly string[];
  /** Web pages that may call the server, besides those of this machine, such as https://inspector.example.com. */
  origins: readonly string[];
}

export type Refusal = readonly [status: number, message: string];

/** The caller of a request, a bearer token at an address; or a refusal. */
export function callerOf(
  { headers, socket }: IncomingMessage,
  { bearers, hosts, origins }: Admission,
): Refusal | string {
  const host = nameIn(headers.host ?? "");
  if (!isLoopback(host) && !hosts.some((each) => each.toLowerCase() === host)) return [403, "this Host is not allowed"];
  const { origin } = headers;
  if (origin !== undefined && !origins.includes(origin) && !isLoopback(hostOf(origin)))
    return [403, "this Origin is not allowed"];
  const given = headers.authorization ?? "";
  // All tokens are compared, so that the timing does not reveal which one matches.
  const [token] = bearers().filter((each) => isSame(given, `Bearer ${each}`));
  return token === undefined ? [401, "a bearer token is required"] : `${hash(token)} ${socket.remoteAddress}`;
}

const isLoopback = (host: string) => host === "localhost" || host === "::1" || /^127\.(\d+\.){2}\d+$/.test(host);
/** The host name of a Host header, without port and brackets. */
const nameIn = (host: string) =>
  host
    .replace(/:\d+$/, "")
    .replace(/^\[(.*)\]$/, "$1")
    .toLowerCase();

/** The host name of an Origin header; "" if it has none. */
const hostOf = (origin: string) => (URL.canParse(origin) ? nameIn(new URL(origin).host) : "");

const digest = (text: string) => createHash("sha256").update(text).digest();
const hash = (text: string): string => digest(text).toString("hex");

/** Compares in constant time. */
const isSame = (given: string, wanted: string): boolean =>
  wanted.length > "Bearer ".length && timingSafeEqual(digest(given), digest(wanted));
