import type { EndpointName } from "../addresses/endpoints.ts";
import type { PlatformCall } from "../calls/call.ts";
import type { Connection } from "../calls/transport.ts";
import type { CollectionSource } from "../collections/collection.ts";
import { authCapacity, authCollection, authCreation, authShaped, authUrl } from "./auth.ts";
import { autoscalingCollection, autoscalingUrl } from "./autoscaling.ts";
import { coreCollection, coreUrl } from "./core.ts";
import { regionalCollection, regionalUrl } from "./regional.ts";
import { type RequestLog, shareRequestLog } from "./request-log.ts";
import { findDeletions, findRequests } from "./requests.ts";
import { shownAsLog } from "./shown-as-log.ts";

/** The APIs with managed resources. */
export type Product = "core" | "auth" | "autoscaling" | "monitoring" | "logging" | "streaming";

/** Returns the part of a listed item that is kept. */
type Keep = (item: unknown) => unknown;

/** Access to one API of the platform. */
export interface ProductAccess {
  endpoint: EndpointName;
  /** The URL of a path of the product. */
  url(endpoint: string, path: string): string;
  collection(connection: Connection, endpoint: string, path: string, depth: number, keep?: Keep): CollectionSource;
  /** The creations at a path: from the platform's request log or, where there is none, from the collection itself. */
  requestLog(connection: Connection, endpoint: string, path: string, source: CollectionSource): RequestLog;
  /** How a creation is sent, and the resource in its answer; `POSTED` when absent. */
  creation?: {
    call(url: string, body: unknown): Pick<PlatformCall, "method" | "url" | "body" | "makes">;
    made(answer: unknown): unknown;
  };
  /** A single resource in the shape of other products; absent where it has that. */
  shaped?(answer: unknown): unknown;
  /** Keeps a collection within its maximum size; absent where the platform sets none. */
  capacity?: typeof authCapacity;
  /** Writes of one method to one path, from the platform's request log; absent where there is none. */
  requests?: typeof findRequests;
  /** Deletions in a collection, from that log. */
  deletions?: typeof findDeletions;
}

/** Regional services without a request log. */
function regional(endpoint: EndpointName): ProductAccess {
  return {
    endpoint,
    url: regionalUrl,
    collection: (connection, address, path) => regionalCollection(connection, address, path, endpoint),
    requestLog: (_connection, _endpoint, _path, source) => shownAsLog(source),
  };
}

/** A creation by a plain POST that returns the resource. */
export const POSTED: NonNullable<ProductAccess["creation"]> = {
  call: (url, body) => ({ method: "POST", url, body }),
  made: (answer) => answer,
};

export const products: Record<Product, ProductAccess> = {
  core: {
    endpoint: "api",
    url: coreUrl,
    collection: (connection, api, path, depth, keep) => coreCollection(connection, api, path, { depth, keep }),
    requestLog: (connection, api, path, { get }) =>
      shareRequestLog(
        (createdAfter) => findRequests(connection, api, { method: "POST", url: path, createdAfter }),
        async (id, signal) => get?.(id, signal),
      ),
    requests: findRequests,
    deletions: findDeletions,
  },
  auth: {
    endpoint: "api",
    url: authUrl,
    shaped: authShaped,
    collection: authCollection,
    requestLog: (_connection, _api, _path, source) => shownAsLog(source),
    creation: authCreation,
    capacity: authCapacity,
  },
  autoscaling: {
    endpoint: "api",
    url: autoscalingUrl,
    collection: autoscalingCollection,
    requestLog: (_connection, _api, _path, source) => shownAsLog(source),
  },
  monitoring: regional("monitoring"),
  logging: regional("logging"),
  streaming: regional("streaming"),
};
