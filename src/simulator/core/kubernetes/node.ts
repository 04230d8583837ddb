import { z } from "zod";
import type { Kind } from "../kind/kind.ts";

/** A node of a node pool: comes and goes with the pool's size. */
export const node: Kind = {
  type: "node",
  collection: "nodes",
  param: "nodeId",
  parents: ["nodepool"],
  verbs: { collection: "G", item: "GD" },
  paged: false,
  schema: z.object({}),
  spans: { create: [20, 40], update: [10, 20], delete: [5, 10] },
  states: { create: "PROVISIONING", update: "REBUILDING", delete: "TERMINATING", idle: "READY" },
  view: (world, { parent, properties }) => ({
    ...properties,
    k8sVersion: world.resources.get(parent)?.properties.k8sVersion,
  }),
};
