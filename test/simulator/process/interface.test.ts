import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { root } from "../../processes.ts";
import { serviceFor, stream } from "../pipelines.ts";
import { type Answer, items, type Platform, platformForFile, resource, startPlatform } from "../platform.ts";
import { streamingOf } from "../streaming.ts";

const described = await platformForFile({ interface: "described" });
const open = await platformForFile({ interface: "public" });
const both = await platformForFile();

const shown = (answer: Answer) => resource(answer);
const hits = z.object({ hits: z.object({ total: z.int(), hits: z.array(z.object({ _source: z.looseObject({}) })) }) });
const entries = async (platform: Platform, query: string) => {
  const path = `/activitylog/v1/contracts/${platform.ready.contractNumber}?limit=1000&${query}`;
  return hits.parse((await platform.call("GET", path)).body).hits;
};

async function pipelinesOf(platform: Platform) {
  const [metrics, logs] = [serviceFor(platform, "monitoring"), serviceFor(platform, "logging")];
  const made = [
    await metrics.call("POST", "/pipelines", { properties: { name: "shop" } }),
    await logs.call("POST", "/pipelines", { properties: { name: "shop", logs: [stream()] } }),
  ].map(shown);
  await platform.advance(7);
  const [metric = { id: "" }, log = { id: "" }] = made;
  const ready = [
    await metrics.call("GET", `/pipelines/${metric.id}`),
    await logs.call("GET", `/pipelines/${log.id}`),
  ].map(shown);
  return [...made, ...ready];
}

describe("a platform with the described interface alone", () => {
  it("tells the state of pipelines in properties.status, and nowhere else", async () => {
    const reported = await pipelinesOf(described);
    expect(reported.map(({ properties }) => properties.status)).toEqual([
      "PROVISIONING",
      "PROVISIONING",
      "AVAILABLE",
      "Ready",
    ]);
    for (const { metadata } of reported) {
      expect(metadata).not.toHaveProperty("state");
      expect(metadata).not.toHaveProperty("status");
    }
  });

  it("has the retention of a stream in retentionInDays alone, and takes it from there", async () => {
    const logs = serviceFor(described, "logging");
    const streams = [stream({ retentionInDays: 7, destinations: [{ type: "loki", retentionInDays: 14 }] })];
    const answer = await logs.call("POST", "/pipelines", { properties: { name: "kept", logs: streams } });
    const [found] = z.array(z.looseObject({})).parse(shown(answer).properties.logs);
    expect(found).toMatchObject({ retentionInDays: 7 });
    expect(found).not.toHaveProperty("destinations");
  });

  it("has one switch per region, without an id and without a list", async () => {
    const central = serviceFor(described, "logging");
    const off = { properties: { enabled: false } };
    const read = await central.call("GET", "/central");
    expect(read).toMatchObject({ status: 200, body: off });
    expect(read.body).not.toHaveProperty("items");
    expect(read.body).not.toHaveProperty("id");
    const on = await central.call("PUT", "/central", { properties: { enabled: true } });
    expect(on).toMatchObject({ status: 200, body: { properties: { enabled: true } } });
    expect(await central.call("PUT", "/central/any", off)).toMatchObject({ status: 404 });
  });

  it("names no contracts in the activity log, reads whole days, and shows four fields", async () => {
    expect(await described.call("GET", "/activitylog/v1/contracts")).toMatchObject({ status: 404 });
    await described.call("POST", "/cloudapi/v6/ipblocks", { properties: { location: "de/txl", size: 1 } });
    const all = await entries(described, "");
    expect(all.total).toBeGreaterThan(0);
    expect(await entries(described, "dateStart=2099-01-01T00:00:00Z")).toEqual(all);
    expect(await entries(described, "startDate=2099-01-01")).toMatchObject({ total: 0 });
    for (const { _source } of all.hits)
      expect(Object.keys(_source).sort()).toEqual(["action", "resource", "time", "user"]);
  });

  it("has auto scaling below its version alone, and the brokers of a cluster in its connections", async () => {
    expect(await described.call("GET", "/autoscaling/v1.ea/groups")).toMatchObject({ status: 200 });
    expect(await described.call("GET", "/autoscaling/groups")).toMatchObject({ status: 404 });
    const streaming = await streamingOf(described);
    const cluster = shown(await streaming.call("GET", await streaming.cluster()));
    expect(cluster).toMatchObject({
      metadata: { state: "AVAILABLE" },
      properties: { connections: [streaming.connection] },
    });
    expect(cluster.metadata).not.toHaveProperty("brokerAddresses");
  });
});

describe("a platform with the public interface alone", () => {
  it("tells the state of pipelines in metadata, and nowhere else", async () => {
    const [metric, log, metricReady, logReady] = await pipelinesOf(open);
    expect([metric?.metadata.status, metricReady?.metadata.status]).toEqual(["PROVISIONING", "AVAILABLE"]);
    expect([log?.metadata.state, logReady?.metadata.state]).toEqual(["PROVISIONING", "AVAILABLE"]);
    for (const each of [metric, log, metricReady, logReady]) expect(each?.properties).not.toHaveProperty("status");
  });

  it("has the switch in a list, and takes no write without its id", async () => {
    const central = serviceFor(open, "logging");
    const list = await central.call("GET", "/central");
    const [item] = items(list);
    expect(list.body).not.toHaveProperty("properties");
    const on = { properties: { enabled: true } };
    expect(await central.call("PUT", "/central", on)).toMatchObject({ status: 405 });
    const id = z.looseObject({ id: z.string() }).parse(item).id;
    expect(await central.call("PUT", `/central/${id}`, on)).toMatchObject({ status: 200, body: on });
  });

  it("knows neither startDate nor the four fields, and calls what goes on RUNNING", async () => {
    const made = await open.call("POST", "/cloudapi/v6/ipblocks", { properties: { location: "de/txl", size: 1 } });
    const all = await entries(open, "");
    expect(all.total).toBeGreaterThan(0);
    expect(await entries(open, "startDate=2099-01-01")).toEqual(all);
    expect(await entries(open, "dateStart=2099-01-01")).toMatchObject({ total: 0 });
    for (const { _source } of all.hits) expect(_source).not.toHaveProperty("user");
    const request = new URL(made.headers.get("location") ?? "").pathname;
    expect(await open.call("GET", request)).toMatchObject({ body: { metadata: { status: "RUNNING" } } });
    expect(await open.call("GET", "/autoscaling/groups")).toMatchObject({ status: 200 });
  });
});

it("is both unless one is asked for", async () => {
  const [metric] = await pipelinesOf(both);
  expect(metric).toMatchObject({ metadata: { status: "PROVISIONING" }, properties: { status: "PROVISIONING" } });
  const same = await startPlatform({ interface: "both" });
  const [again] = await pipelinesOf(same);
  await same.close();
  expect(Object.keys(again ?? {})).toEqual(Object.keys(metric ?? {}));
});

it("differs in five places alone: the tests of the kinds rely on it", () => {
  const simulator = join(root, "src/simulator");
  const asking = globSync("*/**/*.ts", { cwd: simulator })
    .filter((file) => /\bforms\.(described|public)\b/.test(readFileSync(join(simulator, file), "utf8")))
    .map((file) => file.replace(/^((?!core\/)[\w-]+)\/.*$/, "$1"));
  const places = ["activity", "autoscaling", "core/routes/request-routes.ts", "pipelines", "streaming"];
  expect([...new Set(asking)].sort()).toEqual(places);
});
