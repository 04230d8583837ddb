import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Inputs } from "../../../src/kinds/desired.ts";
import { kafkaTopic } from "../../../src/kinds/streaming/kafka-topic.ts";
import { type Platform, startPlatform } from "../../simulator/platform.ts";
import { streamingOf } from "../../simulator/streaming.ts";
import { inputs, mapped, nothing, sent } from "../mapped.ts";
import { create } from "../resident.ts";

const mapping = mapped(kafkaTopic);
const spec = { clusterRef: { name: "events" }, replicationFactor: 3, numberOfPartitions: 6 };
const given = (more: Partial<Inputs> = {}) => inputs({ name: "orders", parents: { cluster: "c-1" }, ...more });
const item = (properties: object = {}) => ({
  id: "t-1",
  properties: { name: "orders", replicationFactor: 3, numberOfPartitions: 6, ...properties },
});
const compare = (change: object, properties: object = {}) =>
  mapping.desire({ ...spec, ...change }).compare(item(properties), given());

describe("a topic", () => {
  it("lives in a cluster, by name or by id", () => {
    const clusterId = "72e73b81-8551-4e74-b398-fc63b39994af";
    expect(mapping.desire(spec).references).toEqual([
      { role: "cluster", kind: "KafkaCluster", field: "clusterRef", target: { name: "events" } },
    ]);
    expect(mapping.desire({ clusterId, replicationFactor: 3 }).references).toMatchObject([
      { target: { id: clusterId } },
    ]);
    expect(mapping.place.collection({ cluster: "c/1" })).toBe("/clusters/c%2F1/topics");
  });

  it("is created with what spec says and nothing else", () => {
    expect(sent(mapping.desire({ ...spec, numberOfPartitions: undefined }).body(given()))).toStrictEqual({
      properties: { name: "orders", replicationFactor: 3 },
    });
    const logRetention = { retentionTime: -1, segmentBytes: 1_048_576 };
    expect(sent(mapping.desire({ ...spec, name: "Orders_1", logRetention }).body(given()))).toStrictEqual({
      properties: { name: "Orders_1", replicationFactor: 3, numberOfPartitions: 6, logRetention },
    });
  });

  it("is called by a name that the platform takes", () => {
    expect(() => mapping.desire({ ...spec, name: "o" })).toThrow("must have 2 to 63 letters");
    expect(mapping.desire(spec).problem(given({ name: "o" }))).toContain(`name: "o" must have 2 to 63 letters`);
  });

  it("is not compared with what spec does not say and the platform fills in", () => {
    const filled = { numberOfPartitions: 1, logRetention: { retentionTime: 604_800_000, segmentBytes: 1_073_741_824 } };
    expect(compare({ numberOfPartitions: undefined }, filled)).toEqual({ drift: [] });
    expect(compare({ logRetention: { retentionTime: 604_800_000 } }, filled).drift).toMatchObject([
      { field: "numberOfPartitions" },
    ]);
    expect(compare({}, { logRetention: null })).toEqual({ drift: [] });
  });

  it("has the brokers' defaults where the platform says nothing, and asking for just those is no difference", () => {
    const defaults = { logRetention: { retentionTime: 604_800_000, segmentBytes: 1_073_741_824 } };
    const silent = { numberOfPartitions: null, replicationFactor: null };
    expect(compare({ ...defaults, numberOfPartitions: 1, replicationFactor: 1 }, silent)).toEqual({ drift: [] });
    expect(compare({ logRetention: { retentionTime: -1 } }).drift).toEqual([
      { field: "logRetention.retentionTime", wanted: "-1", found: "604800000" },
    ]);
    expect(mapping.comparison.facts(item(silent), nothing)).toEqual({
      numberOfPartitions: 1,
      replicationFactor: 1,
      ...defaults,
    });
  });

  it("never changes: every difference is shown, and none is written", () => {
    const change = { name: "other", replicationFactor: 1, numberOfPartitions: 3 };
    const logRetention = { retentionTime: 1000, segmentBytes: 100 };
    expect(compare({ ...change, logRetention }, { logRetention: { retentionTime: -1 } })).toEqual({
      drift: [
        { field: "name", wanted: "other", found: "orders" },
        { field: "replicationFactor", wanted: "1", found: "3" },
        { field: "numberOfPartitions", wanted: "3", found: "6" },
        { field: "logRetention.retentionTime", wanted: "1000", found: "-1" },
        { field: "logRetention.segmentBytes", wanted: "100", found: "1073741824" },
      ],
    });
    const never = Object.keys(kafkaTopic.spec.shape).filter(
      (field) => !Object.keys(kafkaTopic.immutable).some((fixed) => fixed.split(".")[0] === field),
    );
    expect(never).toEqual([
      "accountRef",
      "externalId",
      "managementPolicy",
      "replacePolicy",
      "recreatePolicy",
      "deletionPolicy",
    ]);
  });

  it("says what another number of partitions does to keys", () => {
    expect(mapping.destruction.holdsData).toBe(true);
    expect(kafkaTopic.immutable.numberOfPartitions).toContain("keys map to other partitions");
  });

  it("that is only observed wants nothing", () => {
    const observe = mapping.desire({ clusterRef: { name: "events" }, managementPolicy: "Observe", externalId: "t-1" });
    expect(observe.compare(item({ name: "theirs" }), given({ observed: true }))).toEqual({ drift: [] });
  });

  it("shows what it has", () => {
    const logRetention = { retentionTime: -1, segmentBytes: 1_048_576 };
    const facts = mapping.comparison.facts(item({ logRetention }), nothing);
    expect(facts).toEqual({ numberOfPartitions: 6, replicationFactor: 3, logRetention });
    expect(kafkaTopic.status.strict().parse(facts)).toEqual(facts);
  });
});

describe("not recommended", () => {
  const advice = (change: object) => mapping.desire({ ...spec, ...change }).advice(given());

  it("is nothing for three copies and a multiple of three", () => {
    expect([advice({}), advice({ numberOfPartitions: 3 })]).toEqual([[], []]);
  });

  it.each([1, 2, 4, 10])("are %d partitions", (numberOfPartitions) => {
    expect(advice({ numberOfPartitions })).toEqual([
      `numberOfPartitions ${numberOfPartitions} is not a multiple of three: partitions are not spread evenly over the three brokers`,
    ]);
  });

  it("is nothing that an adopted topic has and spec leaves out", () => {
    const { numberOfPartitions: _, ...unsaid } = spec;
    expect(mapping.desire(unsaid).advice({ ...given(), adopted: true })).toEqual([]);
  });

  it("is to leave the number to the brokers, which make one", () => {
    expect(advice({ numberOfPartitions: undefined })).toEqual([
      "numberOfPartitions is not set and defaults to 1, which is not a multiple of three: partitions are not spread evenly over the three brokers",
    ]);
  });

  it.each([
    [1, "its records are lost"],
    [2, "its records have a single copy left"],
  ])("are %d copies", (replicationFactor, loss) => {
    expect(advice({ replicationFactor })).toEqual([
      `replicationFactor ${replicationFactor} is not 3: when a broker fails, ${loss}`,
    ]);
  });

  it("is to keep records forever, which fills the storage of the cluster", () => {
    expect(advice({ logRetention: { retentionTime: -1 } })).toEqual([
      "logRetention.retentionTime -1 keeps records until the storage of the KafkaCluster is full: set a retention time, or watch the storage",
    ]);
    expect(advice({ logRetention: { retentionTime: 3_600_000 } })).toEqual([]);
  });
});

describe("on the platform", () => {
  let platform: Platform;
  let within: Inputs;
  beforeAll(async () => {
    platform = await startPlatform();
    const cluster = await (await streamingOf(platform, "de-txl")).cluster();
    within = given({ parents: { cluster: cluster.split("/")[2] ?? "" } });
  });
  afterAll(() => platform.close());

  it.each([
    ["as small as can be", { replicationFactor: 1, numberOfPartitions: undefined }],
    ["with everything", { logRetention: { retentionTime: 2_592_000_000, segmentBytes: 1_073_741_824 } }],
    ["that keeps its records", { logRetention: { retentionTime: -1 } }],
    ["as the brokers like it", { logRetention: { retentionTime: 604_800_000, segmentBytes: 1_073_741_824 } }],
  ])("a topic %s is up to date once it is there, and known again by its name", async (name, change) => {
    const wanted = { ...spec, name: name.replaceAll(" ", "."), ...change };
    const resident = await create(platform, kafkaTopic, wanted, within);
    expect(await resident.settle(wanted, within)).toEqual([]);
    const { body } = mapping.desire(wanted);
    expect(mapping.identity.echo?.(await resident.seen())).toEqual(mapping.identity.echo?.(sent(body(within))));
  });
});
