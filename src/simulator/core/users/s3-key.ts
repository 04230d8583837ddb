import { z } from "zod";
import { refused } from "../../http/refusal.ts";
import type { Kind } from "../kind/kind.ts";
import { newAccessKey, newSecretKey } from "./s3-keys.ts";

const keysPerUser = 5;

/** A key of a user for the object storage; its id is the access key. */
export const s3Key: Kind = {
  type: "s3key",
  collection: "s3keys",
  param: "keyId",
  parents: ["user"],
  verbs: { collection: "GP", item: "GUD" },
  paged: false,
  entity: false,
  bodyOptional: true,
  schema: z.object({ active: z.boolean().nullish() }),
  defaults: { active: true },
  newId: newAccessKey,

  shape({ world, parent, previous, next }) {
    if (previous !== null) return;
    const held = [...world.resources.children(parent?.key ?? "", "s3keys")].length;
    if (held >= keysPerUser) throw refused(`A user can have at most ${keysPerUser} S3 keys; delete one first`);
    next.secretKey = newSecretKey();
  },
};
