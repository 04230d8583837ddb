import { z } from "zod";
import { textIn } from "../../store/resource.ts";
import type { Kind } from "./kind.ts";

/** A label of a resource; its id is its key. Labels are written at once, without a request. */
export const label: Kind = {
  type: "label",
  collection: "labels",
  param: "key",
  parents: ["datacenter", "server", "volume", "image", "ipblock", "snapshot"],
  verbs: { collection: "GP", item: "GUD" },
  paged: false,
  entity: false,
  schema: z.object({ key: z.string().min(1).max(128), value: z.string().max(512) }),
  createOnly: ["key"],
  newId: (_world, _parent, given) => textIn(given, "key") ?? "",
};
