import type { Product } from "../kinds/kind.ts";
import type { CollectionSource } from "../platform/collection.ts";
import { coreCollection, coreUrl } from "../platform/core.ts";
import { findRequests, type LoggedRequest } from "../platform/requests.ts";
import type { Connection } from "../platform/transport.ts";

/** The hosts of the platform, as `Account.spec.endpoints` names them. */
export type EndpointName =
  | "api"
  | "monitoring"
  | "logging"
  | "streaming"
  | "inference"
  | "objectStorage"
  | "dns"
  | "certificates";

/** How the engine reaches one API of the platform. */
export interface ProductAccess {
  endpoint: EndpointName;
  /** The address of a path of the product. */
  url(endpoint: string, path: string): string;
  collection(connection: Connection, endpoint: string, path: string, depth: number): CollectionSource;
  /** Creations that the platform's own log keeps; absent where it keeps none. */
  creations?(connection: Connection, endpoint: string, path: string, createdAfter: number): Promise<LoggedRequest[]>;
}

export const products: Record<Product, ProductAccess> = {
  core: {
    endpoint: "api",
    url: coreUrl,
    collection: (connection, api, path, depth) => coreCollection(connection, api, path, { depth }),
    creations: (connection, api, path, createdAfter) =>
      findRequests(connection, api, { method: "POST", url: path, createdAfter }),
  },
};
