import { datacenter, kafkaCluster, lan, server, snapshot, volume } from "../cluster/objects.ts";
import { bootVolume, manifest } from "../subjects/surroundings.ts";
import { type SharedContract, statusOf } from "./shared-account.ts";

/**
 * Ways to another tenant's resource: an object with its id, and the kind of that resource. `ids` has all of that
 * tenant's ids, by kind.
 */
export const thefts: [what: string, object: (id: string, ids: Record<string, string>) => object, owner: string][] = [
  ["an admin certificate by clusterId", (clusterId) => manifest("KafkaUser", "thief", { clusterId }), "KafkaCluster"],
  [
    "a copy of a disk by volumeId",
    (volumeId, ids) => manifest("Snapshot", "thief", { volumeId, datacenterId: ids.Datacenter }),
    "Volume",
  ],
  ["a disk by its snapshot as an image", (image) => volume("thief", { imageAlias: undefined, image }), "Snapshot"],
  ["a disk itself", (externalId) => volume("thief", { externalId }), "Volume"],
  [
    "the NICs of a server by Observe",
    (externalId, ids) =>
      manifest("Server", "thief", { datacenterId: ids.Datacenter, externalId, managementPolicy: "Observe" }),
    "Server",
  ],
  ["a place in a datacenter by its id", (datacenterId) => manifest("Lan", "thief", { datacenterId }), "Datacenter"],
];

/** Makes the resources that `other` tries to get, and a place for its own. Returns their ids by kind. */
export async function makeTargets({ gold, other }: SharedContract): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  const connection = { ...Object(kafkaCluster("stream").spec).connection, lanRef: { name: "net" } };
  await gold.apply(
    datacenter("dc"),
    lan("net"),
    volume("disk"),
    snapshot("copy", { volumeRef: { name: "disk" } }),
    server("web", { bootVolume, nics: [{ name: "n", lanRef: { name: "net" } }] }),
    kafkaCluster("stream", { connection: { ...connection, datacenterRef: { name: "dc" } } }),
  );
  await other.apply(datacenter("dc"), lan("net"));
  for (const [kind, name] of [
    ["Datacenter", "dc"],
    ["Volume", "disk"],
    ["Snapshot", "copy"],
    ["Server", "web"],
    ["KafkaCluster", "stream"],
  ] as const) {
    await gold.untilReady(kind, name);
    ids[kind] = (await statusOf(gold, kind, name))?.id ?? "";
  }
  await other.untilReady("Datacenter", "dc");
  await other.untilReady("Lan", "net");
  return ids;
}

/** Removes what both tenants have. */
export async function removeTargets({ gold, other }: SharedContract): Promise<void> {
  for (const kind of ["CentralLogging", "KafkaCluster", "Server", "Snapshot", "Volume", "Lan", "Datacenter"]) {
    for (const stage of [gold, other]) {
      const named = (await stage.list(kind)).map(({ metadata }) => metadata.name);
      for (const name of named) await stage.remove(kind, name);
      for (const name of named) await stage.untilGone(kind, name);
    }
  }
}
