/** Metric and log pipelines, central logging and event streaming: regional services with the same API shape. */
import { PlatformError, Retry } from "../answers/errors.ts";
import type { Connection } from "../calls/connection.ts";
import type { CollectionSource } from "../collections/reading.ts";
import { resourceCollection } from "./resource-collection.ts";

const UNFINISHED = new Set(["PROVISIONING", "DEPLOYING", "BUSY", "UPDATING", "DESTROYING"]);

/** The URL of a path, for an endpoint with or without a trailing slash. */
export const regionalUrl = (endpoint: string, path: string): string => `${endpoint.replace(/\/+$/, "")}${path}`;

/** The list of the service itself, which exists in every region; not one inside of a resource. */
const isOwnList = (path: string): boolean => /^\/[^/]+$/.test(path);

export function regionalCollection(
  connection: Connection,
  endpoint: string,
  path: string,
  product: string,
): CollectionSource {
  const source = resourceCollection(connection, regionalUrl(endpoint, path), {
    query: {},
    isBusy: (state) => state !== undefined && UNFINISHED.has(state.toUpperCase()),
    pageSize: 1_000,
    product,
  });
  if (!isOwnList(path)) return source;
  return {
    ...source,
    list: (signal, priority) => source.list(signal, priority).catch((error: unknown) => fail(error, endpoint)),
  };
}

/** 404 to the service's own list is about the address: it shows nothing about resources. */
function fail(error: unknown, endpoint: string): never {
  if (!(error instanceof PlatformError) || error.status !== 404) throw error;
  const { call, status, requestId } = error;
  const detail = `${endpoint} does not serve it: check spec.region of the Account`;
  throw new Retry({ call, status, requestId, detail, cause: error }, "no");
}

/** Whether the answer to a service's own list shows that its address is wrong: 404, or a host without an address. */
export function isWrongAddress(error: unknown): boolean {
  return error instanceof PlatformError && (error.status === 404 || isUnresolved(error));
}

const isUnresolved = (error: unknown): boolean =>
  Object(error).code === "ENOTFOUND" || (Object(error).cause !== undefined && isUnresolved(Object(error).cause));
