import { etagOf, type Listed } from "../core/kind/listing.ts";
import { metadataOf, type Reader, referenceTo } from "../core/provisioning/reading.ts";
import type { Action, Group, Replica } from "../records/scaling/records.ts";
import { hrefOf as coreHref, textIn } from "../store/resource.ts";
import { timestamp } from "../time.ts";
import type { World } from "../world.ts";
import { datacenterOf, runningAction } from "./actions.ts";

/** Every href has this base, whichever one the call had. */
export const basePath = "/autoscaling/v1.ea";

export const hrefOf = (origin: string, path: string) => `${origin}${basePath}/${path}`;

export const groupType = "autoscaling-group";

export const stateOf = (world: World, group: Group) =>
  group.deleting || runningAction(world, group.id) !== undefined ? "BUSY" : "AVAILABLE";

/** A group as reads show it: 1 adds its actions and servers as references, 2 their items. */
export function listedGroup(reader: Reader, group: Group): Listed {
  const { world, origin } = reader;
  const key = `groups/${group.id}`;
  const reference = { id: group.id, type: groupType, href: hrefOf(origin, key) };
  const metadata = () => metadataOf(reader, { ...group, key, state: stateOf(world, group) });
  const properties = () => shownProperties(world, origin, group);
  const collection = (name: string, items: () => Listed[], depth: number) => ({
    id: `${group.id}/${name}`,
    type: "collection",
    href: hrefOf(origin, `${key}/${name}`),
    ...(depth > 1 && { items: items().map((item) => item.full(depth - 2)) }),
  });
  return {
    createdAt: group.createdAt,
    etag: metadata().etag,
    reference: () => reference,
    metadata,
    properties,
    full: (depth) => ({
      ...reference,
      metadata: metadata(),
      properties: properties(),
      ...(depth > 0 && {
        entities: {
          actions: collection("actions", () => listedActions(reader, group), depth),
          servers: collection("servers", () => listedReplicas(reader, group), depth),
        },
      }),
    }),
  };
}

/** The properties that the caller sent, completed by the platform and without the password. */
export function shownProperties(world: World, origin: string, group: Group) {
  const { datacenter, replicaConfiguration, ...properties } = group.properties;
  return {
    ...properties,
    datacenter: { id: datacenter.id, type: "datacenter", href: coreHref(origin, `datacenters/${datacenter.id}`) },
    location: textIn(datacenterOf(world, group)?.properties ?? {}, "location"),
    replicaConfiguration: {
      ...replicaConfiguration,
      ...(replicaConfiguration.volumes && {
        volumes: replicaConfiguration.volumes.map(({ imagePassword: _, ...volume }) => volume),
      }),
    },
  };
}

/** An action or a replica of a group. */
export type Part = Listed & { id: string };

export const listedActions = (reader: Reader, { id }: Group) =>
  reader.world.scaling.actionsOf(id).map((action) => listedAction(reader, action));

export const listedReplicas = (reader: Reader, { id }: Group) =>
  reader.world.scaling.replicasOf(id).map((replica) => listedReplica(reader, replica));

function listedAction(reader: Reader, action: Action): Part {
  const { id, groupId, status, type, createdAt, modifiedAt } = action;
  return part(reader, { id, type: "action", path: `groups/${groupId}/actions/${id}` }, createdAt, modifiedAt, {
    state: status === "IN_PROGRESS" ? "BUSY" : "AVAILABLE",
    properties: { actionStatus: status, actionType: type },
  });
}

function listedReplica(reader: Reader, { id, groupId, name, server, createdAt }: Replica): Part {
  const machine = reader.world.resources.get(server);
  const serverId = server.split("/").at(-1) ?? "";
  return part(
    reader,
    { id, type: "server", path: `groups/${groupId}/servers/${id}` },
    createdAt,
    machine?.modifiedAt ?? createdAt,
    {
      state: machine?.state ?? "BUSY",
      properties: { datacenterServer: referenceTo(reader.origin, { id: serverId, type: "server", key: server }), name },
    },
  );
}

/** Something that belongs to a group. It has nothing below it, so depth makes no difference. */
function part(
  reader: Reader,
  { path, ...identity }: { id: string; type: string; path: string },
  createdAt: number,
  modifiedAt: number,
  { state, properties }: { state: string; properties: Readonly<Record<string, unknown>> },
): Part {
  const reference = { ...identity, href: hrefOf(reader.origin, path) };
  const etag = etagOf(`${path}@${modifiedAt}/${state}`);
  const metadata = () => ({
    createdDate: timestamp(createdAt + reader.skew),
    etag,
    lastModifiedDate: timestamp(modifiedAt + reader.skew),
    state,
  });
  return {
    id: identity.id,
    createdAt,
    etag,
    reference: () => reference,
    metadata,
    properties: () => properties,
    full: () => ({ ...reference, metadata: metadata(), properties }),
  };
}
