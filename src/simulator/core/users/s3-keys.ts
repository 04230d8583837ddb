import { randomBytes } from "node:crypto";
import { z } from "zod";
import { refused } from "../../http/refusal.ts";
import { plainResource, textIn } from "../../store/resource.ts";
import { type User, userKey } from "../../users.ts";
import type { World } from "../../world.ts";
import type { Kind } from "../kind/kind.ts";

export const newAccessKey = ({ chance }: World) => chance.uuid("s3key").replaceAll("-", "").slice(0, 20);
/** All have one prefix, so that a search of logs finds any of them. */
export const newSecretKey = () => `s3secret_${randomBytes(24).toString("base64url").slice(1)}`;

/** A key that signs calls to the object storage, and whose it is. */
export interface S3Key {
  secretKey: string;
  active: boolean;
  user: User;
  world: World;
}

/** The key of any of these contracts, by its access key. */
export function s3KeyOf(worlds: readonly World[], accessKey: string): S3Key | undefined {
  for (const world of worlds) {
    const managed = world.accessKeys.find(accessKey);
    const maker = world.identity.users.get(managed?.createdBy ?? "");
    if (managed !== undefined && maker !== undefined) {
      const active = managed.state !== "DESTROYING" && maker.active;
      return { secretKey: managed.own.secretKey, active, user: maker, world };
    }
    const key = world.resources.byId("s3key", accessKey);
    const user = key && world.identity.users.get(world.resources.get(key.parent)?.id ?? "");
    if (key === undefined || user === undefined) continue;
    const active = key.properties.active === true && user.active;
    return { secretKey: textIn(key.properties, "secretKey") ?? "", active, user, world };
  }
  return undefined;
}

/** The access keys of a contract, however they were made. */
export const accessKeysOf = ({ resources, accessKeys }: World): string[] => [
  ...[...resources.ofType("s3key")].map(({ id }) => id),
  ...[...accessKeys.keys.values()].map(({ own }) => own.accessKey),
];

/** The first S3 key of a user, made when there is none. Inside a transaction. */
export function firstS3Key(world: World, { id: userId }: User): { accessKey: string; secretKey: string } {
  const parent = userKey(userId);
  for (const { id, properties } of world.resources.children(parent, "s3keys")) {
    return { accessKey: id, secretKey: textIn(properties, "secretKey") ?? "" };
  }
  const id = newAccessKey(world);
  const secretKey = newSecretKey();
  const place = { key: `${parent}/s3keys/${id}`, id, type: "s3key", collection: "s3keys", parent };
  world.resources.put(plainResource(place, { secretKey, active: true }, world.clock.now(), userId));
  return { accessKey: id, secretKey };
}

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
