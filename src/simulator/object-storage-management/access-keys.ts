import { createHash } from "node:crypto";
import { z } from "zod";
import { checkedProperties } from "../core/kind/body.ts";
import { newSecretKey } from "../core/users/s3-keys.ts";
import type { Call, Reply, Route } from "../http/exchange.ts";
import { refused } from "../http/refusal.ts";
import { isAdministrator } from "../identity/privileges.ts";
import type { Managed } from "../managed/kind.ts";
import { found, managedRoutes } from "../managed/routes.ts";
import { hostRoute } from "../managed/service.ts";
import { shown } from "../managed/view.ts";
import type { AccessKey } from "../records/access-keys.ts";
import type { Own } from "../records/life.ts";
import type { World } from "../world.ts";
import { listRegions, managementHost, readRegion, regions } from "./regions.ts";

const keysPerUser = 10;
const keyShape = z.object({ description: z.string().max(255, "must have at most 255 characters").nullish() });

/** 92 characters, as those of the platform. */
const newAccessKey = ({ chance }: World) => {
  const parts = [0, 1, 2].map(() => createHash("sha256").update(chance.uuid("access-key")).digest("base64url"));
  return `EAAAA${parts.join("").replaceAll(/[-_]/g, "x")}`.slice(0, 92);
};

export const accessKeyKind: Managed<Own<AccessKey>> = {
  host: managementHost,
  type: "accesskey",
  path: "/accesskeys",
  param: "accesskeyId",
  change: "PUT",
  statuses: { create: 201, change: 200 },
  span: [500, 2_000],
  table: ({ accessKeys }) => accessKeys.keys,
  /** Users see their own keys; the owner and administrators see all. */
  within: (_, { caller: { user } }) => (isAdministrator(user) ? () => true : (row) => row.createdBy === user.id),
  given(world, call, before, showOnce) {
    const { description } = checkedProperties(keyShape, call.body);
    if (before !== undefined) return { own: { ...before.own, description: description ?? "" } };
    const held = [...world.accessKeys.keys.values()].filter(({ createdBy }) => createdBy === call.caller.user.id);
    if (held.length >= keysPerUser)
      throw refused(`A user can have at most ${keysPerUser} access keys; delete one first`);
    const secretKey = newSecretKey();
    showOnce({ properties: { secretKey } });
    return { own: { description: description ?? "", accessKey: newAccessKey(world), secretKey } };
  },
  properties: ({ createdBy, own: { description, accessKey } }) => ({
    description,
    accessKey,
    contractUserId: createdBy,
  }),
  metadata: (world, { state, createdBy }) => ({
    status: state,
    administrative: world.identity.users.get(createdBy)?.role === "owner",
    supportedRegions: Object.keys(regions),
  }),
  filters: { accesskeyId: ({ id, own }, value) => id === value || own.accessKey === value },
};

/** Replaces the secret of a key; the old one is invalid at once. */
export function renewSecret(world: World, call: Call): Reply {
  const row = found(world, accessKeyKind, call);
  const secretKey = newSecretKey();
  const next = {
    ...row,
    modifiedAt: call.at,
    modifiedBy: call.caller.user.id,
    own: { ...row.own, secretKey },
  };
  world.accessKeys.keys.put(row.id, next);
  return { status: 200, body: shown(world, accessKeyKind, call, next, { properties: { secretKey } }) };
}

/** Keys for the object storage, and where it is. */
export function objectStorageRoutes(world: World): Route[] {
  return [
    ...managedRoutes(world, accessKeyKind),
    hostRoute(world, managementHost, "PUT", "/accesskeys/{accesskeyId}/renew", {
      handle: (call) => renewSecret(world, call),
    }),
    hostRoute(world, managementHost, "GET", "/regions", { handle: (call) => listRegions(world, call) }),
    hostRoute(world, managementHost, "GET", "/regions/{regionName}", { handle: (call) => readRegion(world, call) }),
  ];
}
