import { z } from "zod";
import type { Kind } from "../kind/kind.ts";

/** A graphics card of a server. Servers with one cannot be created here: only the demo data has one. */
export const gpu: Kind = {
  type: "gpu",
  collection: "gpus",
  param: "gpuId",
  parents: ["server"],
  verbs: { collection: "G", item: "G" },
  paged: false,
  schema: z.object({}),
};
