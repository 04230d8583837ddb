import type { PlatformCall } from "../calls/call.ts";
import type { Connection } from "../calls/transport.ts";
import type { CollectionSource } from "../collections/collection.ts";
import { authCapacity, authCollection, authCreation, authUrl } from "./auth.ts";
import { autoscalingCollection, autoscalingUrl } from "./autoscaling.ts";
import { coreCollection, coreUrl } from "./core.ts";
import { regionalCollection, regionalUrl } from "./regional.ts";
import { type RequestLog, shareRequestLog } from "./request-log.ts";
import { findDeletions, findRequests } from "./requests.ts";
import { shownAsLog } from "./shown-as-log.ts";

/** The hosts of the platform, as `Account.spec.endpoints` names them. */
export type EndpointName =
  | "api"
  | "monitoring"
  | "logging"
  | "streaming"
  | "inference"
  | "objectStorage"
  | "objectStorageManagement"
  | "dns"
  | "certificates";

/** The APIs whose resources are managed. */
export type Product = "core" | "auth" | "autoscaling" | "monitoring" | "logging" | "streaming";

/** What is kept of a listed item. */
type Keep = (item: unknown) => unknown;

/** How one API of the platform is reached. */
export interface ProductAccess {
  endpoint: EndpointName;
  /** The address of a path of the product. */
  url(endpoint: string, path: string): string;
  collection(connection: Connection, endpoint: string, path: string, depth: number, keep?: Keep): CollectionSource;
  /** What was posted to a path: from the platform's own log, or, where it keeps none, from what the collection shows. */
  requestLog(connection: Connection, endpoint: string, path: string, source: CollectionSource): RequestLog;
  /** How a creation is sent, and the resource in its answer; absent where it is a POST that is answered with it. */
  creation?: {
    call(url: string, body: unknown): Pick<PlatformCall, "method" | "url" | "body" | "makes">;
    made(answer: unknown): unknown;
  };
  /** How many there may be in a collection, and what makes room; absent where the platform sets no such limit. */
  capacity?: { most: number; makeRoom(connection: Connection, endpoint: string, guard: () => void): Promise<void> };
  /** Writes of one method to one path, as the platform's own log keeps them; absent where it keeps none. */
  requests?: typeof findRequests;
  /** Deletions in a collection, as that log keeps them. */
  deletions?: typeof findDeletions;
}

/** Regional services that keep no log of requests. */
function regional(endpoint: EndpointName): ProductAccess {
  return {
    endpoint,
    url: regionalUrl,
    collection: (connection, address, path) => regionalCollection(connection, address, path, endpoint),
    requestLog: (_connection, _endpoint, _path, source) => shownAsLog(source),
  };
}

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
