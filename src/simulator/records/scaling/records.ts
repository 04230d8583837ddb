import { z } from "zod";
import type { Documents, Table } from "../../store/documents.ts";
import { showing, stamps } from "../../store/shown.ts";
import { loadSchema } from "./load-record.ts";
import { propertiesSchema } from "./properties.ts";

const groupSchema = z.object({
  id: z.string(),
  /** Stored groups are not checked against other resources, which may have been deleted. */
  properties: propertiesSchema({
    mostReplicas: Number.POSITIVE_INFINITY,
    hasDatacenter: () => true,
    hasTargetGroup: () => true,
    hasSource: () => true,
    hasCloudInit: () => true,
    bucketFault: () => undefined,
  }),
  /** The address that the caller used. The requests of the group's own calls show it. */
  origin: z.string(),
  /** How many replicas there should be; the policy moves it between min and max. */
  target: z.number(),
  /** How many replicas were up since when, as far back as the policy looks. */
  counts: z.array(z.object({ at: z.number(), count: z.number() })).readonly(),
  /** The group is removed with its last replica. */
  deleting: z.boolean(),
  revision: z.number(),
  ...stamps,
  ...showing,
});

const actionSchema = z.object({
  id: z.string(),
  groupId: z.string(),
  type: z.enum(["SCALE_OUT", "SCALE_IN"]),
  status: z.enum(["IN_PROGRESS", "SUCCESSFUL", "FAILED"]),
  /** Why it failed, or is going to. */
  failure: z.string().nullable(),
  createdAt: z.number(),
  modifiedAt: z.number(),
  /** Replicas still to be asked for. */
  toMake: z.number(),
  /** Ids of the replicas still to be deleted. */
  toRemove: z.array(z.string()).readonly(),
  /** Ids of the core API's requests it has made. */
  requests: z.array(z.string()).readonly(),
});

const replicaSchema = z.object({
  id: z.string(),
  groupId: z.string(),
  name: z.string(),
  /** Key of the core API's server. */
  server: z.string(),
  /** Has been AVAILABLE once. */
  up: z.boolean(),
  createdAt: z.number(),
  /** The target groups its NICs join; `ip` is the address that has joined. */
  memberships: z
    .array(
      z.object({
        nic: z.string(),
        targetGroupId: z.string(),
        port: z.number(),
        weight: z.number(),
        ip: z.string().nullable(),
      }),
    )
    .readonly(),
});

export type Group = Readonly<z.infer<typeof groupSchema>>;
export type Action = Readonly<z.infer<typeof actionSchema>>;
export type Replica = Readonly<z.infer<typeof replicaSchema>>;

/** Everything that the platform remembers of auto scaling. */
export function createScalingRecords(documents: Documents) {
  const actions = documents.table("scaling-actions", actionSchema);
  const replicas = documents.table("scaling-replicas", replicaSchema);
  return {
    groups: documents.table("scaling-groups", groupSchema),
    actions,
    /** In the order they began. */
    actionsOf: indexed(actions),
    replicas,
    /** The oldest first. */
    replicasOf: indexed(replicas),
    loads: documents.table("scaling-loads", loadSchema),
  };
}

export type ScalingRecords = ReturnType<typeof createScalingRecords>;

/** Finds the rows of a group, in order of creation, without a walk over all rows. */
function indexed<T extends { id: string; groupId: string }>(table: Table<T>): (groupId: string) => T[] {
  const byGroup = new Map<string, Map<string, T>>();
  table.watch((before, after) => {
    if (after !== undefined) {
      const rows = byGroup.get(after.groupId) ?? new Map<string, T>();
      byGroup.set(after.groupId, rows.set(after.id, after));
    } else if (before !== undefined) {
      const rows = byGroup.get(before.groupId);
      if (rows?.delete(before.id) && rows.size === 0) byGroup.delete(before.groupId);
    }
  });
  return (groupId) => [...(byGroup.get(groupId)?.values() ?? [])];
}
