import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contentsBy } from "../../../src/kinds/contents.ts";
import type { Inputs } from "../../../src/kinds/desired.ts";
import { kafkaCluster } from "../../../src/kinds/streaming/kafka-cluster.ts";
import { type Platform, startPlatform } from "../../simulator/platform.ts";
import { streamingOf } from "../../simulator/streaming.ts";
import { inputs, mapped, nothing, sent } from "../mapped.ts";
import { create } from "../resident.ts";

const mapping = mapped(kafkaCluster);
const brokerAddresses = ["192.168.1.101/24", "192.168.1.102/24", "192.168.1.103/24"];
const connection = { datacenterRef: { name: "berlin" }, lanRef: { name: "brokers" }, brokerAddresses };
const spec = { size: "S", connection };
const parents = { datacenter: "dc-1", lan: "2" };
const given = (more: Partial<Inputs> = {}) => inputs({ name: "events", parents, ...more });
const shownConnection = { datacenterId: "dc-1", lanId: "2", brokerAddresses };
const item = (properties: object = {}, metadata: object = {}) => ({
  id: "c-1",
  metadata: { state: "AVAILABLE", ...metadata },
  properties: { name: "events", version: "4.0.0", size: "S", connections: [shownConnection], ...properties },
});
const compare = (change: object, properties: object = {}) =>
  mapping.desire({ ...spec, ...change }).compare(item(properties), given());

describe("the connection of a cluster", () => {
  it("is a LAN of a datacenter, by name or by id", () => {
    expect(mapping.desire(spec).references).toEqual([
      { role: "datacenter", kind: "Datacenter", field: "connection.datacenterRef", target: { name: "berlin" } },
      { role: "lan", kind: "Lan", field: "connection.lanRef", target: { name: "brokers" } },
    ]);
    const datacenterId = "72e73b81-8551-4e74-b398-fc63b39994af";
    const byId = { size: "S", connection: { datacenterId, lanId: "2", brokerAddresses } };
    expect(mapping.desire(byId).references.map(({ target }) => target)).toEqual([{ id: datacenterId }, { id: "2" }]);
  });

  it("names its LAN in a datacenter of another namespace, where a number would lead to any", () => {
    const { lanRef: _, ...connection } = spec.connection;
    const byNumber = mapping.desire({ ...spec, connection: { ...connection, lanId: "2" } });
    expect(byNumber.problem(given({ abroad: ["datacenter"] }))).toContain(
      "connection.lanId: numbers are not allowed in a Datacenter of another",
    );
    expect(byNumber.problem(given())).toBeUndefined();
  });

  it("is not in another datacenter than its LAN", () => {
    const lanIn = (datacenter: string) => given({ refs: { lan: { id: "2", status: { parents: { datacenter } } } } });
    expect(mapping.desire(spec).problem(lanIn("dc-1"))).toBeUndefined();
    expect(mapping.desire(spec).problem(lanIn("dc-2"))).toBe(
      "connection.lanRef: Lan brokers is in another datacenter (dc-2): use a Lan in the cluster's datacenter",
    );
  });
});

describe("a cluster", () => {
  it("is created with what spec says, under its own name when spec says none", () => {
    expect(sent(mapping.desire(spec).body(given()))).toStrictEqual({
      properties: { name: "events", version: "4.0.0", size: "S", connections: [shownConnection] },
    });
    const named = { ...spec, name: "Events.v2", size: "XL" };
    expect(mapping.desire(named).body(given())).toMatchObject({ properties: { name: "Events.v2", size: "XL" } });
  });

  it.each(["e", `e${"v".repeat(63)}`])("whose object's name %j is too short or too long needs another", (name) => {
    expect(mapping.desire(spec).problem(given({ name }))).toContain(": set spec.name");
    expect(mapping.desire({ ...spec, name: "events" }).problem(given({ name }))).toBeUndefined();
  });

  it.each(["e", "-events", "events-", "my events"])("is not called %j", (name) => {
    expect(() => mapping.desire({ ...spec, name })).toThrow("must have 2 to 63 letters");
  });

  it("is up to date whatever the order in which the platform shows its addresses", () => {
    const reversed = { ...shownConnection, brokerAddresses: brokerAddresses.toReversed() };
    expect(compare({}, { connections: [reversed] })).toEqual({ drift: [] });
  });

  it("never changes: every difference is shown, and none is written", () => {
    const addresses = ["192.168.1.1/24", ...brokerAddresses.slice(1)];
    const elsewhere = { datacenterId: "dc-2", lanId: "3", brokerAddresses: addresses };
    const theirs = { name: "theirs", version: "3.9.0", size: "M", connections: [elsewhere] };
    expect(compare({}, theirs)).toEqual({
      drift: [
        { field: "name", wanted: "events", found: "theirs" },
        { field: "version", wanted: "4.0.0", found: "3.9.0" },
        { field: "size", wanted: "S", found: "M" },
        { field: "connection.datacenterRef", wanted: "dc-1", found: "dc-2" },
        { field: "connection.lanRef", wanted: "2", found: "3" },
        {
          field: "connection.brokerAddresses",
          wanted: JSON.stringify(brokerAddresses),
          found: JSON.stringify(addresses),
        },
      ],
    });
    const never = Object.keys(kafkaCluster.spec.shape).filter(
      (field) => !Object.keys(kafkaCluster.immutable).some((fixed) => fixed.split(".")[0] === field),
    );
    expect(never).toEqual([
      "accountRef",
      "externalId",
      "managementPolicy",
      "replacePolicy",
      "recreatePolicy",
      "deletionPolicy",
      "output",
    ]);
  });

  it("that is only observed wants nothing", () => {
    const observe = mapping.desire({ managementPolicy: "Observe", externalId: "c-1" });
    const alone = given({ observed: true, parents: {} });
    expect(observe.references).toEqual([]);
    expect(observe.problem(given({ ...alone, name: "e" }))).toBeUndefined();
    expect(observe.compare(item({ name: "theirs", version: "3.9.0" }), alone)).toEqual({ drift: [] });
  });

  it("loses its data with itself", () => {
    expect(mapping.destruction.holdsData).toBe(true);
  });

  const inside = (items: readonly object[]) =>
    contentsBy(mapping.destruction.contents ?? { reads: {} }, async (path) => {
      expect(path).toBe("/topics");
      return { id: "topics", type: "collection", items };
    });
  const topic = (name?: string) => ({ id: `t-${name}`, type: "topic", properties: { name, numberOfPartitions: 3 } });

  it("holds its topics, with and without a name", async () => {
    expect(await inside([topic("orders"), topic("audit"), topic()])).toEqual([
      { id: "t-orders", title: "topic orders" },
      { id: "t-audit", title: "topic audit" },
      { id: "t-undefined", title: "topic t-undefined" },
    ]);
    expect(await inside([])).toEqual([]);
  });

  it("holds nothing in topics of the brokers' own", async () => {
    const own = ["__consumer_offsets", "__transaction_state", "__share_group_state"];
    expect(await inside([...own, "__orders"].map(topic))).toEqual([{ id: "t-__orders", title: "topic __orders" }]);
  });

  it.each([{}, { items: null }, null, { items: [{ properties: { name: "orders" } }] }])(
    "may hold anything where the answer is %j",
    async (answer) => {
      const contents = mapping.destruction.contents ?? { reads: {} };
      await expect(contentsBy(contents, async () => answer)).rejects.toThrow();
    },
  );
});

describe("a cluster is known again", () => {
  const echo = (resource: unknown) => JSON.stringify(mapping.identity.echo?.(resource));
  const body = mapping.desire(spec).body(given());

  it("by what it was created from, as the platform shows it", () => {
    const reversed = { ...shownConnection, brokerAddresses: brokerAddresses.toReversed() };
    expect(echo(item({ connections: [reversed] }))).toBe(echo(sent(body)));
  });

  it("and is not mistaken for one of the same name in another LAN or datacenter", () => {
    for (const other of [{ lanId: "3" }, { datacenterId: "dc-2" }]) {
      expect(echo(item({ connections: [{ ...shownConnection, ...other }] }))).not.toBe(echo(sent(body)));
    }
  });
});

describe("the facts of a cluster", () => {
  it("are where its brokers listen, and fit into status", () => {
    const facts = mapping.comparison.facts(
      item({}, { brokerAddresses: ["10.0.0.1:19093", "10.0.0.2:19093"] }),
      nothing,
    );
    expect(facts).toEqual({
      size: "S",
      brokerAddresses: ["10.0.0.1:19093", "10.0.0.2:19093"],
      bootstrapServers: "10.0.0.1:19093,10.0.0.2:19093",
    });
    expect(kafkaCluster.status.strict().parse(facts)).toEqual(facts);
  });

  it("come from its connection where the platform does not tell them", () => {
    expect(mapping.comparison.facts(item(), nothing)).toMatchObject({
      bootstrapServers: "192.168.1.101:9093,192.168.1.102:9093,192.168.1.103:9093",
    });
    expect(mapping.comparison.facts(item({ connections: null }, { brokerAddresses: null }), nothing)).toEqual({
      size: "S",
    });
  });
});

describe("on the platform", () => {
  let platform: Platform;
  let within: Inputs;
  beforeAll(async () => {
    platform = await startPlatform();
    const { connection } = await streamingOf(platform);
    within = given({ parents: { datacenter: connection.datacenterId ?? "", lan: connection.lanId } });
  });
  afterAll(() => platform.close());

  it.each(["XS", "S", "M", "L", "XL"])("a cluster of size %s is up to date once it is there", async (size) => {
    const wanted = { ...spec, size, name: `events-${size}` };
    const resident = await create(platform, kafkaCluster, wanted, within);
    expect(await resident.settle(wanted, within)).toEqual([]);
    expect(await resident.facts(within)).toMatchObject({
      bootstrapServers: "192.168.1.101:9093,192.168.1.102:9093,192.168.1.103:9093",
    });
    const { body } = mapping.desire(wanted);
    expect(mapping.identity.echo?.(await resident.seen())).toEqual(mapping.identity.echo?.(sent(body(within))));
  });
});
