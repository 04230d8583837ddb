import { withoutTrailing } from "../../runtime/text.ts";
/** VM auto scaling, below /autoscaling/v1.ea. */
import type { Connection } from "../calls/connection.ts";
import type { CollectionSource } from "../collections/reading.ts";
import { resourceCollection } from "./resource-collection.ts";

const base = "/autoscaling/v1.ea";

/** The URL of a path, for an `api` with or without a trailing slash. */
export const autoscalingUrl = (api: string, path: string): string => `${withoutTrailing(api, "/")}${base}${path}`;

/** A collection of groups. It has no pages, and a write is complete when it is answered. */
export function autoscalingCollection(
  connection: Connection,
  api: string,
  path: string,
  depth: number,
): CollectionSource {
  return resourceCollection(connection, autoscalingUrl(api, path), {
    query: { depth: String(depth) },
    isBusy: (state) => state === "BUSY",
    product: "autoscaling",
  });
}
