import { z } from "zod";
import type { Steering } from "../../steering.ts";

const inside = z.looseObject({ items: z.array(z.looseObject({ id: z.string() })).default([]) }).optional();
const item = z.looseObject({
  id: z.string(),
  properties: z.looseObject({
    name: z.string().nullish(),
    bootVolume: z.looseObject({ id: z.string() }).nullish(),
  }),
  entities: z.looseObject({ nics: inside, volumes: inside, flowlogs: inside, servers: inside }).optional(),
});
const listed = z.looseObject({ items: z.array(item) });
const replicasOf = z.looseObject({
  items: z.array(z.looseObject({ properties: z.looseObject({ datacenterServer: z.looseObject({ id: z.string() }) }) })),
});
type Item = z.output<typeof item>;

/** A resource of the state, with its address. */
export interface StateEntry {
  type: string;
  name: string;
  attributes: object;
}

export const addressOf = ({ type, name }: StateEntry): string => `ionoscloud_${type}.${name}`;

/**
 * The landscape as the platform's Terraform provider keeps it in its state: a server has its boot volume inside, a NIC or
 * NAT gateway its flow log, and a scaling group its servers, which have no entry.
 */
export async function stateEntries(platform: Steering): Promise<StateEntry[]> {
  const read = async (path: string): Promise<Item[]> => listed.parse(await platform.call("GET", path)).items;
  const core = (path: string) => read(`/cloudapi/v6${path}?depth=5`);
  const entries: StateEntry[] = [];
  const add = (type: string, from: Item, attributes: object = {}) => {
    const name = `${type}_${entries.filter((each) => each.type === type).length + 1}`;
    entries.push({ type, name, attributes: { id: from.id, name: from.properties.name, ...attributes } });
  };
  const groups = await read("/autoscaling/v1.ea/groups?depth=1");
  for (const group of groups) add("autoscaling_group", group);
  for (const each of await core("/ipblocks")) add("ipblock", each);
  for (const each of await core("/snapshots")) add("snapshot", each);
  for (const each of await read("/logging/de-txl/pipelines")) add("logging_pipeline", each);
  for (const each of await read("/monitoring/de-txl/pipelines")) add("monitoring_pipeline", each);
  for (const cluster of await read("/streaming/de-txl/clusters")) {
    add("kafka_cluster", cluster);
    for (const each of await read(`/streaming/de-txl/clusters/${cluster.id}/topics`))
      add("kafka_cluster_topic", each, { cluster_id: cluster.id });
  }
  const replicas = new Set<string>();
  for (const { id } of groups) {
    const { items } = replicasOf.parse(await platform.call("GET", `/autoscaling/v1.ea/groups/${id}/servers?depth=1`));
    for (const { properties } of items) replicas.add(properties.datacenterServer.id);
  }
  for (const datacenter of await core("/datacenters")) {
    const within = { datacenter_id: datacenter.id };
    const at = (collection: string) => core(`/datacenters/${datacenter.id}/${collection}`);
    add("datacenter", datacenter);
    for (const each of await at("lans")) add("lan", each, within);
    const inline = new Set<string>();
    for (const server of await at("servers")) {
      const volumes = server.entities?.volumes?.items ?? [];
      for (const { id } of volumes) if (replicas.has(server.id)) inline.add(id);
      if (replicas.has(server.id)) continue;
      const boot = server.properties.bootVolume?.id;
      if (boot !== undefined) inline.add(boot);
      const nics = z.array(item).parse(server.entities?.nics?.items ?? []);
      const block = { name: "system", image_password: "hidden" };
      const volume = { boot_volume: boot, inline_volume_ids: boot === undefined ? [] : [boot], volume: [block] };
      add("server", server, { ...within, ...volume, nic: nics.map(({ id }) => ({ id, flowlog: [] })) });
      for (const nic of nics) {
        const flowlog = nic.entities?.flowlogs?.items ?? [];
        if (flowlog.length > 0) add("nic", nic, { ...within, server_id: server.id, flowlog });
      }
    }
    for (const each of await at("volumes")) if (!inline.has(each.id)) add("volume", each, within);
    for (const gateway of await at("natgateways")) {
      const flowlog = z.array(item).parse(gateway.entities?.flowlogs?.items ?? []);
      add("natgateway", gateway, {
        ...within,
        flowlog: flowlog.map(({ id, properties: { name } }) => ({ id, name })),
      });
    }
  }
  return entries;
}

export const stateOf = (entries: readonly StateEntry[]): string =>
  JSON.stringify({
    version: 4,
    terraform_version: "1.9.0",
    resources: entries.map(({ type, name, attributes }) => ({
      mode: "managed",
      type: `ionoscloud_${type}`,
      name,
      provider: 'provider["registry.terraform.io/ionos-cloud/ionoscloud"]',
      instances: [{ schema_version: 0, attributes }],
    })),
  });
