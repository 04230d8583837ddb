import { describe, expect, it } from "vitest";
import { givenTopic } from "../../../src/simulator/streaming/body.ts";
import { items, platformForFile, refusal, resource } from "../platform.ts";
import { streamingOf } from "../streaming.ts";

const platform = await platformForFile();
const streaming = await streamingOf(platform);
const cluster = await streaming.cluster();

const create = (properties: object) => streaming.call("POST", `${cluster}/topics`, { properties });

describe("a topic", () => {
  it("is DEPLOYING, then AVAILABLE, and stored as it was sent", async () => {
    const properties = {
      name: "orders",
      replicationFactor: 3,
      numberOfPartitions: 6,
      logRetention: { retentionTime: -1, segmentBytes: 1_048_576 },
    };
    const created = await create(properties);
    expect(created).toMatchObject({
      status: 201,
      body: { type: "topic", metadata: { state: "DEPLOYING" }, properties },
    });
    const { id } = resource(created);
    const path = `${cluster}/topics/${id}`;
    refusal(await streaming.call("GET", path), 404, "paas-streaming-309");
    await platform.advance(3);
    const { href, metadata, properties: stored } = resource(await streaming.call("GET", path));
    expect(href).toBe(`${platform.ready.endpoints.api}/streaming/de-fra${path}`);
    expect(metadata).toMatchObject({ state: "AVAILABLE", createdBy: platform.ready.username });
    expect(metadata.resourceURN).toBe(`urn:ionos:streaming:${platform.ready.contractNumber}::topic/${id}`);
    expect(stored).toEqual(properties);
  });

  it("needs nothing but a name, and of what was left out only the retention is shown", async () => {
    const path = await streaming.topic(cluster, { name: "bare" });
    expect(resource(await streaming.call("GET", path)).properties).toEqual({
      name: "bare",
      logRetention: expect.any(Object),
    });
    const nulls = await streaming.topic(cluster, { name: "nulls", numberOfPartitions: null, logRetention: null });
    expect(resource(await streaming.call("GET", nulls)).properties).toEqual({
      name: "nulls",
      logRetention: expect.any(Object),
    });
  });

  it("is listed without pages, in the order of creation", async () => {
    const list = await streaming.call("GET", `${cluster}/topics`);
    expect(items(list).map((item) => item.properties)).toMatchObject([
      { name: "orders" },
      { name: "bare" },
      { name: "nulls" },
    ]);
    expect(Object.keys(Object(list.body)).sort()).toEqual(["href", "id", "items", "type"]);
  });

  it("has a name that no other topic of the cluster has, also not by the brokers' rules", async () => {
    await streaming.topic(cluster, { name: "a.b" });
    expect(refusal(await create({ name: "a.b" }), 409, "paas-streaming-200")).toContain('"a.b"');
    refusal(await create({ name: "a_b" }), 409, "paas-streaming-200");
    const other = await streaming.cluster({ name: "other" });
    expect((await streaming.call("POST", `${other}/topics`, { properties: { name: "a.b" } })).status).toBe(201);
  });

  it("is DESTROYING after its deletion, then gone, and its name is free again", async () => {
    const path = await streaming.topic(cluster, { name: "leaving" });
    expect(await streaming.call("DELETE", path)).toMatchObject({ status: 202, body: undefined });
    expect(await streaming.state(path)).toBe("DESTROYING");
    refusal(await streaming.call("DELETE", path), 409, "paas-streaming-200");
    refusal(await create({ name: "leaving" }), 409, "paas-streaming-200");
    await platform.advance(3);
    refusal(await streaming.call("GET", path), 404, "paas-streaming-309");
    expect((await create({ name: "leaving" })).status).toBe(201);
  });

  it("is not found in another cluster, and has no update call", async () => {
    const path = await streaming.topic(cluster, { name: "mine" });
    const other = await streaming.cluster({ name: "another" });
    const elsewhere = path.replace(cluster, other);
    refusal(await streaming.call("GET", elsewhere), 404, "paas-streaming-309");
    refusal(await streaming.call("DELETE", elsewhere), 404, "paas-streaming-309");
    for (const method of ["PUT", "PATCH"]) expect((await streaming.call(method, path, {})).status).toBe(405);
  });

  it("waits for its cluster: every call is 409 until that is AVAILABLE", async () => {
    const young = `/clusters/${resource(await streaming.call("POST", "/clusters", streaming.body())).id}`;
    await platform.advance(2);
    const properties = { name: "early" };
    refusal(await streaming.call("POST", `${young}/topics`, { properties }), 409, "paas-streaming-200");
    refusal(await streaming.call("GET", `${young}/topics`), 409, "paas-streaming-200");
    refusal(await streaming.call("GET", `${young}/topics/none`), 409, "paas-streaming-200");
    refusal(await streaming.call("DELETE", `${young}/topics/none`), 409, "paas-streaming-200");
    await platform.advance(20);
    expect((await streaming.call("POST", `${young}/topics`, { properties })).status).toBe(201);
    refusal(await streaming.call("GET", `${young}/topics/none`), 404, "paas-streaming-309");
    refusal(await streaming.call("GET", "/clusters/none/topics"), 404, "paas-streaming-309");
  });
});

describe("a topic is refused", () => {
  it.each([
    ["without a name", "name", { name: undefined }],
    ["with a name of one character", "name", { name: "a" }],
    ["with a name of 64 characters", "name", { name: "a".repeat(64) }],
    ["with a name that begins with an underscore", "name", { name: "__consumer_offsets" }],
    ["with a space in its name", "name", { name: "my topic" }],
    ["with no replica", "replicationFactor", { replicationFactor: 0 }],
    ["with more replicas than brokers", "replicationFactor", { replicationFactor: 4 }],
    ["with no partition", "numberOfPartitions", { numberOfPartitions: 0 }],
    ["with half a partition", "numberOfPartitions", { numberOfPartitions: 1.5 }],
    ["with partitions as text", "numberOfPartitions", { numberOfPartitions: "3" }],
    ["with a retention below -1", "logRetention.retentionTime", { logRetention: { retentionTime: -2 } }],
    ["with segments of no use", "logRetention.segmentBytes", { logRetention: { segmentBytes: 0 } }],
  ])("%s: 422 that names %s", async (_, field, properties) => {
    const answer = await create({ name: "refused", ...properties });
    expect(refusal(answer, 422, "paas-streaming-100")).toContain(`[(root).properties.${field}] `);
  });
});

it("a topic has as many copies as there are brokers for, or is refused", () => {
  const body = (replicationFactor: number) => JSON.stringify({ properties: { name: "copies", replicationFactor } });
  expect(givenTopic(body(3), 3)).toMatchObject({ replicationFactor: 3 });
  expect(givenTopic(body(1), 1)).toMatchObject({ replicationFactor: 1 });
  expect(() => givenTopic(body(3), 1)).toThrow(/replicationFactor\] must be 1, the number of brokers/);
});
