import { withoutTrailing } from "../../runtime/text.ts";
/** Metric and log pipelines, central logging and event streaming: regional services with the same API shape. */
import type { Connection } from "../calls/connection.ts";
import type { CollectionSource } from "../collections/reading.ts";
import { resourceCollection } from "./resource-collection.ts";

const UNFINISHED = new Set(["PROVISIONING", "DEPLOYING", "BUSY", "UPDATING", "DESTROYING"]);

/** The URL of a path, for an endpoint with or without a trailing slash. */
export const regionalUrl = (endpoint: string, path: string): string => `${withoutTrailing(endpoint, "/")}${path}`;

export function regionalCollection(
  connection: Connection,
  endpoint: string,
  path: string,
  product: string,
): CollectionSource {
  return resourceCollection(connection, regionalUrl(endpoint, path), {
    query: {},
    isBusy: (state) => state !== undefined && UNFINISHED.has(state.toUpperCase()),
    pageSize: 1_000,
    product,
  });
}
