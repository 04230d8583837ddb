import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { items, platformForFile, refusal, resource, startPlatform } from "../platform.ts";
import { stateOf, streamingOf } from "../streaming.ts";

const platform = await platformForFile();
const streaming = await streamingOf(platform);

/** Addresses of three brokers. */
const brokers = (...brokerAddresses: string[]) => ({ connections: [{ ...streaming.connection, brokerAddresses }] });

describe("a cluster", () => {
  it("is told in the ready line, where to find", () => {
    expect(platform.ready.endpoints.streaming).toBe(`${platform.ready.endpoints.api}/streaming/{region}`);
  });

  it("is DEPLOYING, not to be seen at first, and AVAILABLE with its brokers' addresses within 20 seconds", async () => {
    const created = await streaming.call("POST", "/clusters", streaming.body());
    expect(created).toMatchObject({ status: 201, body: { type: "cluster", metadata: { state: "DEPLOYING" } } });
    const path = `/clusters/${resource(created).id}`;
    refusal(await streaming.call("GET", path), 404, "paas-streaming-309");
    await platform.advance(1);
    const seen = await streaming.call("GET", path);
    expect(stateOf(seen)).toBe("DEPLOYING");
    expect(resource(seen).metadata).not.toHaveProperty("brokerAddresses");
    await platform.advance(8);
    expect(await streaming.state(path)).toBe("DEPLOYING");
    await platform.advance(11);
    const { origin } = new URL(platform.ready.endpoints.api);
    const { contractNumber, username } = platform.ready;
    const { id } = resource(created);
    expect((await streaming.call("GET", path)).body).toEqual({
      id,
      type: "cluster",
      href: `${origin}/streaming/de-fra${path}`,
      metadata: {
        createdDate: expect.any(String),
        createdBy: username,
        createdByUserId: expect.any(String),
        lastModifiedDate: expect.any(String),
        lastModifiedBy: username,
        lastModifiedByUserId: expect.any(String),
        resourceURN: `urn:ionos:streaming:${contractNumber}::cluster/${id}`,
        state: "AVAILABLE",
        brokerAddresses: ["192.168.1.101:9093", "192.168.1.102:9093", "192.168.1.103:9093"],
      },
      properties: { name: "events", version: "4.0.0", size: "S", connections: [streaming.connection] },
    });
    await streaming.call("DELETE", path);
  });

  it("is DESTROYING after its deletion, then gone with its topics", async () => {
    const path = await streaming.cluster();
    const topic = await streaming.topic(path, { name: "orders" });
    expect(await streaming.call("DELETE", path)).toMatchObject({ status: 202, body: undefined });
    expect(await streaming.state(path)).toBe("DESTROYING");
    refusal(await streaming.call("DELETE", path), 409, "paas-streaming-200");
    refusal(await streaming.call("GET", topic), 409, "paas-streaming-200");
    await platform.advance(10);
    refusal(await streaming.call("GET", path), 404, "paas-streaming-309");
    refusal(await streaming.call("GET", topic), 404, "paas-streaming-309");
    expect(await platform.steer("GET", "state")).toMatchObject({ streamingTopics: [] });
  });

  it("can be deleted before it is AVAILABLE", async () => {
    const path = `/clusters/${resource(await streaming.call("POST", "/clusters", streaming.body())).id}`;
    await platform.advance(2);
    expect((await streaming.call("DELETE", path)).status).toBe(202);
    await platform.advance(30);
    expect((await streaming.call("GET", path)).status).toBe(404);
  });

  it("has no update call", async () => {
    const path = await streaming.cluster();
    for (const method of ["PUT", "PATCH"]) {
      const answer = await streaming.call(method, path, streaming.body({ name: "other" }));
      expect(answer.status).toBe(405);
    }
    await streaming.call("DELETE", path);
  });

  it("is FAILED with the reason when a fault says so, and can be deleted then", async () => {
    await platform.faults({ fault: "request-failed", message: "no room", count: 1 });
    const path = await streaming.cluster();
    expect(resource(await streaming.call("GET", path)).metadata).toMatchObject({ state: "FAILED", message: "no room" });
    refusal(await streaming.call("GET", `${path}/topics`), 409, "paas-streaming-200");
    await streaming.call("DELETE", path);
    await platform.advance(10);
    expect((await streaming.call("GET", path)).status).toBe(404);
  });
});

describe("the list of clusters", () => {
  it("has those of its region, by name and by state, without pages", async () => {
    await platform.advance(60);
    const first = await streaming.cluster({ name: "Orders" });
    const second = await streaming.cluster({ name: "orders-eu" });
    const other = await streaming.cluster({ name: "clicks" });
    await streaming.call("DELETE", second);
    const names = async (query: string, region = "de-fra") => {
      const answer = await platform.call("GET", `/streaming/${region}/clusters${query}`);
      return items(answer).map((item) => item.properties);
    };
    expect(await names("?filter.name=order")).toMatchObject([{ name: "Orders" }, { name: "orders-eu" }]);
    expect(await names("?filter.state=DESTROYING")).toMatchObject([{ name: "orders-eu" }]);
    expect(await names("?filter.name=order&filter.state=AVAILABLE")).toMatchObject([{ name: "Orders" }]);
    expect(await names("")).toHaveLength(3);
    expect(await names("", "us-las")).toEqual([]);
    const list = await streaming.call("GET", "/clusters");
    expect(Object.keys(Object(list.body)).sort()).toEqual(["href", "id", "items", "type"]);
    const elsewhere = await platform.call("GET", `/streaming/de-txl${first}`);
    refusal(elsewhere, 404, "paas-streaming-309");
    for (const path of [first, other]) await streaming.call("DELETE", path);
    await platform.advance(10);
  });
});

describe("a cluster is refused", () => {
  const [a, b, c] = ["192.168.1.101/24", "192.168.1.102/24", "192.168.1.103/24"];

  it.each<[string, string, () => object]>([
    ["without a name", "name", () => ({ name: undefined })],
    ["with a name of one character", "name", () => ({ name: "a" })],
    ["with a name of 64 characters", "name", () => ({ name: "a".repeat(64) })],
    ["with a name that ends in a dash", "name", () => ({ name: "events-" })],
    ["with another version", "version", () => ({ version: "3.9.0" })],
    ["without a version", "version", () => ({ version: undefined })],
    ["with an unknown size", "size", () => ({ size: "XXL" })],
    ["without connections", "connections", () => ({ connections: undefined })],
    ["with no connection", "connections", () => ({ connections: [] })],
    ["with two connections", "connections", () => ({ connections: [streaming.connection, streaming.connection] })],
    [
      "with an unknown datacenter",
      "connections[0].datacenterId",
      () => ({ connections: [{ ...streaming.connection, datacenterId: "none" }] }),
    ],
    [
      "with an unknown LAN",
      "connections[0].lanId",
      () => ({ connections: [{ ...streaming.connection, lanId: "77" }] }),
    ],
    ["with a LAN's number", "connections[0].lanId", () => ({ connections: [{ ...streaming.connection, lanId: 1 }] })],
    ["with two addresses", "connections[0].brokerAddresses", () => brokers(a, b)],
    ["with four addresses", "connections[0].brokerAddresses", () => brokers(a, b, c, "192.168.1.104/24")],
    ["with an address without a prefix", "connections[0].brokerAddresses[1]", () => brokers(a, "192.168.1.102", c)],
    ["with no address", "connections[0].brokerAddresses[2]", () => brokers(a, b, "192.168.1.300/24")],
    ["with a subnet's own address", "connections[0].brokerAddresses[0]", () => brokers("192.168.1.0/24", b, c)],
    ["with another subnet", "connections[0].brokerAddresses[2]", () => brokers(a, b, "192.168.2.103/24")],
    ["with another prefix", "connections[0].brokerAddresses[1]", () => brokers(a, "192.168.1.102/25", c)],
    ["with one address twice", "connections[0].brokerAddresses[1]", () => brokers(a, a, c)],
    [
      "with an address of the platform's own network",
      "connections[0].brokerAddresses[0]",
      () => brokers("10.255.0.1/24", "10.255.0.2/24", "10.255.0.3/24"),
    ],
  ])("%s: 422 that names %s", async (_, field, properties) => {
    const answer = await streaming.call("POST", "/clusters", streaming.body(properties()));
    expect(refusal(answer, 422, "paas-streaming-100")).toContain(`[(root).properties.${field}] `);
  });

  it("with all that is wrong at once", async () => {
    const answer = await streaming.call("POST", "/clusters", streaming.body({ name: "", size: "", version: "" }));
    expect(answer).toMatchObject({ status: 422, body: { messages: { length: 3 } } });
  });

  it("with a body that is not JSON", async () => {
    refusal(
      await streaming.call("POST", "/clusters", undefined, {
        raw: "{",
        headers: { "content-type": "application/json" },
      }),
      422,
      "paas-streaming-100",
    );
  });

  it.each(["10.223.255.1/24", "11.0.0.1/24"])("but not beside the platform's own network: %s", async (first) => {
    const [, second, third] = [1, 2, 3].map((host) => first.replace(".1/", `.${host}/`));
    const path = await streaming.cluster(brokers(first, second ?? "", third ?? ""));
    expect(await streaming.state(path)).toBe("AVAILABLE");
    await streaming.call("DELETE", path);
  });

  it.each(["XS", "M", "L", "XL"])("but not with the size %s", async (size) => {
    const path = await streaming.cluster({ size });
    expect(await streaming.state(path)).toBe("AVAILABLE");
    await streaming.call("DELETE", path);
  });
});

describe("an allowed caller", () => {
  it("is any user with a bearer token, and nobody without", async () => {
    const { token } = await platform.user("plain@example.org", { privileges: [] });
    const as = (authorization: string | null) => streaming.call("GET", "/clusters", undefined, { authorization });
    expect((await as(`Bearer ${token}`)).status).toBe(200);
    refusal(await as(null), 401, "paas-streaming-315");
    const { username, password } = platform.ready;
    refusal(await as(`Basic ${btoa(`${username}:${password}`)}`), 401, "paas-streaming-315");
  });

  it("finds it in the regions that have it", async () => {
    for (const region of ["de-fra", "de-txl", "es-vit", "gb-lhr", "gb-bhx", "us-ewr", "us-las", "us-mci", "fr-par"]) {
      expect((await platform.call("GET", `/streaming/${region}/clusters`)).status).toBe(200);
    }
    refusal(await platform.call("GET", "/streaming/de-fkb/clusters"), 404, "paas-streaming-309");
  });
});

describe("a restart", () => {
  it("finds clusters and topics as they were, and goes on with what had begun", async () => {
    const data = mkdtempSync(join(tmpdir(), "simulator-"));
    const before = await startPlatform({ data });
    const first = await streamingOf(before);
    const ready = await first.cluster();
    const topic = await first.topic(ready, { name: "orders" });
    const access = await first.access(ready);
    const begun = resource(await first.call("POST", "/clusters", first.body({ name: "begun" })));
    await before.close();

    const after = await startPlatform({ data });
    const call = (path: string) => after.call("GET", `/streaming/de-fra${path}`);
    expect(stateOf(await call(topic))).toBe("AVAILABLE");
    const user = resource(await call(`${ready}/users`).then((answer) => ({ ...answer, body: items(answer)[0] })));
    expect(await call(`${ready}/users/${user.id}/access`)).toMatchObject({ body: { metadata: access } });
    await after.advance(20);
    expect(stateOf(await call(`/clusters/${begun.id}`))).toBe("AVAILABLE");
    await after.close();
    rmSync(data, { recursive: true });
  });
});
