import { server } from "../core/compute/server.ts";
import { deleteResource } from "../core/provisioning/change.ts";
import { createResource } from "../core/provisioning/create.ts";
import { newWrite, startRequest } from "../core/provisioning/provisioning.ts";
import { noEffects } from "../http/effects.ts";
import type { Call } from "../http/exchange.ts";
import { withinQuota } from "../records/limits.ts";
import type { RequestRecord } from "../records/requests.ts";
import type { Group, Replica } from "../records/scaling/records.ts";
import type { ReplicaConfiguration } from "../records/scaling/replica-configuration.ts";
import { basePath, type Resource } from "../store/resource.ts";
import type { World } from "../world.ts";
import { leave } from "./target-groups.ts";

/** Asks the core API for one more server of a group; throws what the API would answer. Inside a transaction. */
export function makeReplica(world: World, group: Group, datacenter: Resource, at: number): RequestRecord {
  const id = world.chance.uuid("replica");
  const name = `${group.properties.name}-${id.slice(0, 8)}`;
  const { replicaConfiguration } = group.properties;
  const body = serverBody(replicaConfiguration, name);
  const call = platformCall(world, group, "POST", `${datacenter.key}/servers`, at, JSON.stringify(body));
  const write = newWrite(world, call);
  const made = withinQuota(world, () => createResource(write, server, body, { parent: datacenter, path: "(root)" }));
  const nics = [...world.resources.children(made.key, "nics")];
  world.scaling.replicas.put(id, {
    id,
    groupId: group.id,
    name,
    server: made.key,
    up: false,
    createdAt: at,
    memberships: (replicaConfiguration.nics ?? []).flatMap(({ targetGroup }, index) => {
      const nic = nics[index];
      return targetGroup && nic ? [{ ...targetGroup, nic: nic.key, ip: null }] : [];
    }),
  });
  return startRequest(write, made);
}

/** Asks the core API to delete the server of a replica. Inside a transaction. */
export function removeReplica(
  world: World,
  group: Group,
  replica: Replica,
  machine: Resource,
  at: number,
): RequestRecord {
  leave(world, replica);
  const call = platformCall(world, group, "DELETE", machine.key, at);
  // A group that is deleted removes everything, whatever its policy says.
  if (group.deleting || group.properties.policy.scaleInAction.deleteVolumes) call.query.set("deleteVolumes", "true");
  const write = newWrite(world, call);
  deleteResource(write, server, machine);
  return startRequest(write, machine);
}

/** A call of the platform to itself, on behalf of the user who created the group. */
function platformCall(
  world: World,
  { createdBy, origin }: Group,
  method: "POST" | "DELETE",
  key: string,
  at: number,
  body = "",
): Call {
  const { users } = world.identity;
  // The user who made the group may be deleted; then the contract's owner makes the call.
  const user = users.get(createdBy) ?? [...users.values()].find(({ role }) => role === "owner");
  if (user === undefined) throw new Error("the contract has no owner");
  return {
    method,
    path: `${basePath}/${key}`,
    params: {},
    query: new URLSearchParams(),
    headers: { "user-agent": "autoscaling", ...(body !== "" && { "content-type": "application/json" }) },
    body,
    origin,
    caller: { contractNumber: world.contractNumber, user, tokenId: null },
    from: "",
    at,
    effects: noEffects,
  };
}

/** The core API's names of the volume types that groups spell in their own way. */
const volumeTypes: Record<string, string> = { SSD_STANDARD: "SSD Standard", SSD_PREMIUM: "SSD Premium" };

function serverBody({ nics, volumes, ...machine }: ReplicaConfiguration, name: string) {
  return {
    properties: { ...machine, name },
    entities: {
      volumes: {
        items: (volumes ?? []).map(({ type, ...volume }) => ({
          properties: { ...volume, type: volumeTypes[type] ?? type },
        })),
      },
      nics: {
        items: (nics ?? []).map(({ targetGroup: _, flowLogs, firewallRules, ...nic }) => ({
          properties: nic,
          entities: {
            firewallrules: { items: (firewallRules ?? []).map((properties) => ({ properties })) },
            flowlogs: { items: (flowLogs ?? []).map((properties) => ({ properties })) },
          },
        })),
      },
    },
  };
}
