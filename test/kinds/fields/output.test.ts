import { describe, expect, test } from "vitest";
import { scalingGroup } from "../../../src/kinds/compute/scaling-group/scaling-group.ts";
import { server } from "../../../src/kinds/compute/server/server.ts";
import { envName, outputData } from "../../../src/kinds/fields/secrets/output.ts";
import { kinds } from "../../../src/kinds/index.ts";
import type { Kind } from "../../../src/kinds/kind.ts";
import { ipBlock } from "../../../src/kinds/network/ipblock.ts";
import { kafkaCluster } from "../../../src/kinds/streaming/kafka-cluster.ts";

const outputOf = (
  { resource }: Kind,
  item: object,
  known: { shown?: Record<string, unknown>; related?: Map<string, unknown> } = {},
) =>
  outputData(
    resource?.output?.values(item, { id: "id-1", parents: { datacenter: "dc-1" } }, { shown: {}, ...known }) ?? {},
  );

const nic = (name: string | null, ips: string[], ipv6Ips: string[] = []) => ({
  id: "n",
  properties: { name, ips, ipv6Ips },
});

describe("the output for workloads", () => {
  test("of a server are its addresses, all of them and by NIC, IPv4 first", () => {
    const nics = [
      nic("public", ["203.0.113.7"], ["2001:db8::7"]),
      nic("back-end 1", ["10.0.0.2", "10.0.0.3"]),
      nic(null, ["10.0.1.2"]),
      nic("idle", []),
    ];
    expect(outputOf(server, { id: "id-1", properties: {}, entities: { nics: { items: nics } } })).toEqual({
      ID: "id-1",
      DATACENTER_ID: "dc-1",
      PRIMARY_IP: "203.0.113.7",
      IPS: "203.0.113.7,10.0.0.2,10.0.0.3,10.0.1.2,2001:db8::7",
      NIC_PUBLIC_IPS: "203.0.113.7,2001:db8::7",
      NIC_BACK_END_1_IPS: "10.0.0.2,10.0.0.3",
    });
  });

  test("NICs of a server whose names make the same variable share it", () => {
    const items = [nic("a-b", ["10.0.0.2"]), nic("a.b", ["10.0.0.3"])];
    const { NIC_A_B_IPS } = outputOf(server, { id: "id-1", properties: {}, entities: { nics: { items } } });
    expect(NIC_A_B_IPS).toBe("10.0.0.2,10.0.0.3");
  });

  test("of a block are its addresses, the first 32 also by number", () => {
    const ips = Array.from({ length: 40 }, (_, nth) => `203.0.113.${nth}`);
    const data = outputOf(ipBlock, { id: "id-1", properties: { location: "de/txl", ips } });
    expect(data).toMatchObject({ ID: "id-1", LOCATION: "de/txl", IPS: ips.join(","), IP_0: ips[0], IP_31: ips[31] });
    expect(Object.keys(data)).toHaveLength(3 + 32);
  });

  test("of a Kafka cluster is where its brokers listen", () => {
    const metadata = { brokerAddresses: ["192.168.1.101:9093", "192.168.1.102:9093"] };
    expect(outputOf(kafkaCluster, { id: "id-1", metadata, properties: {} })).toEqual({
      ID: "id-1",
      BOOTSTRAP_SERVERS: "192.168.1.101:9093,192.168.1.102:9093",
    });
  });

  test("of a group are its servers", () => {
    const replica = (id: string) => ({ properties: { name: `replica ${id}`, datacenterServer: { id } } });
    const entities = { servers: { items: [replica("s-1"), replica("s-2"), {}] } };
    expect(outputOf(scalingGroup, { id: "id-1", properties: {}, entities })).toEqual({
      ID: "id-1",
      DATACENTER_ID: "dc-1",
      REPLICAS: "3",
      SERVER_IDS: "s-1,s-2",
    });
    expect(outputOf(scalingGroup, { id: "id-1", properties: {} })).toMatchObject({ REPLICAS: "0" });
  });

  test("of a group are the addresses of its servers, too, by NIC and in their order", () => {
    const replica = (id: string) => ({ properties: { name: `replica ${id}`, datacenterServer: { id } } });
    const machine = (...items: object[]) => ({ id: "s", properties: {}, entities: { nics: { items } } });
    const item = { id: "id-1", properties: {}, entities: { servers: { items: ["s-2", "s-1", "s-3"].map(replica) } } };
    const related = new Map<string, unknown>([
      ["s-1", machine(nic("public", ["203.0.113.1"], ["2001:db8::1"]), nic("back", ["10.0.0.1"]))],
      ["s-2", machine(nic("public", ["203.0.113.2"]), nic("back", ["10.0.0.2"]))],
      ["s-3", undefined],
    ]);
    const values = {
      REPLICAS: "3",
      SERVER_IDS: "s-2,s-1,s-3",
      IPS: "203.0.113.2,10.0.0.2,203.0.113.1,10.0.0.1,2001:db8::1",
      NIC_PUBLIC_IPS: "203.0.113.2,203.0.113.1,2001:db8::1",
      NIC_BACK_IPS: "10.0.0.2,10.0.0.1",
    };
    expect(outputOf(scalingGroup, item, { related })).toEqual({ ID: "id-1", DATACENTER_ID: "dc-1", ...values });
    const shown =
      scalingGroup.resource?.comparison.facts(item, { shown: {}, annotations: {}, refs: {}, related }) ?? {};
    expect(outputOf(scalingGroup, item, { shown, related: new Map() }), "not read again yet").toMatchObject(values);
    expect(outputOf(scalingGroup, item, { shown, related: new Map([["s-2", { odd: true }]]) })).toMatchObject({
      IPS: "203.0.113.1,10.0.0.1,2001:db8::1",
    });
  });

  test("is under names that every version of Kubernetes takes for environment variables", () => {
    for (const name of ["public", "1st", "  ", "grün", "a".repeat(300), "x_"])
      expect(`NIC_${envName(name)}_IPS`).toMatch(/^[A-Z_][A-Z0-9_]{0,252}$/);
  });

  test("is asked for in the same way of every kind that tells something", () => {
    const telling = kinds.filter(({ resource }) => resource?.output).map(({ kind }) => kind);
    expect(telling).toEqual(kinds.filter(({ spec }) => "output" in spec.shape).map(({ kind }) => kind));
    expect(telling.toSorted()).toEqual(["IPBlock", "KafkaCluster", "ScalingGroup", "Server"]);
  });
});
