import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { keyIn, serviceFor, stream } from "../pipelines.ts";
import { type Answer, items, platformForFile, refusal, resource, startPlatform } from "../platform.ts";

const platform = await platformForFile();
const logging = serviceFor(platform, "logging");

const codes = { validation: "paas-logging-100", refused: "paas-logging-200", missing: "paas-logging-309" };
const post = (...logs: object[]) => logging.call("POST", "/pipelines", { properties: { name: "shop", logs } });
const read = (path: string) => logging.call("GET", path);

describe("creating a log pipeline", () => {
  it("answers 201 with the key and the addresses, PROVISIONING, then Ready", async () => {
    const answer = await post(stream());
    const { id } = resource(answer);
    const { api, logging: address } = platform.ready.endpoints;
    expect(address).toBe(`${api}/logging/{region}`);
    expect(answer).toMatchObject({
      status: 201,
      body: {
        id,
        type: "pipeline",
        href: `${api}/logging/de-txl/pipelines/${id}`,
        metadata: {
          state: "PROVISIONING",
          createdBy: platform.ready.username,
          resourceURN: `urn:ionos:logging:${platform.ready.contractNumber}::pipeline/${id}`,
        },
        properties: {
          name: "shop",
          status: "PROVISIONING",
          key: expect.stringMatching(/^ingestkey_[\w-]{43}$/),
          tcpAddress: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
          httpAddress: `${api}/ingest/logs/${id}`,
          grafanaAddress: `${api}/dashboards/de-txl`,
          logs: [
            {
              source: "kubernetes",
              tag: "k8s",
              protocol: "tcp",
              labels: [],
              retentionInDays: 30,
              destinations: [{ type: "loki", retentionInDays: 30 }],
            },
          ],
        },
      },
    });
    await platform.advance(6);
    const ready = await read(`/pipelines/${id}`);
    expect(ready).toMatchObject({ body: { metadata: { state: "AVAILABLE" }, properties: { status: "Ready" } } });
    expect(ready.body).not.toHaveProperty("properties.key");
  });

  it.each([
    ["not at all", {}, 30, 30],
    ["directly", { retentionInDays: 7 }, 7, 7],
    ["in the destination", { destinations: [{ type: "loki", retentionInDays: 14 }] }, 14, 14],
    ["in both", { retentionInDays: 14, destinations: [{ type: "loki", retentionInDays: 14 }] }, 14, 14],
    ["as unlimited", { retentionInDays: "unlimited" }, "unlimited", 0],
    ["as 0", { destinations: [{ type: "loki", retentionInDays: 0 }] }, "unlimited", 0],
    ["as null", { retentionInDays: null, destinations: null }, 30, 30],
  ])("takes the retention given %s and shows both spellings", async (_, given, direct, stored) => {
    const [shown] = logsIn(await post(stream(given)));
    expect(shown).toMatchObject({ retentionInDays: direct, destinations: [{ type: "loki", retentionInDays: stored }] });
  });

  it("takes all sources, and http as another word for generic over HTTP", async () => {
    const sources = ["kubernetes", "docker", "systemd", "generic"];
    const answer = await post(...sources.map((source) => stream({ source, tag: source, labels: ["team"] })), {
      source: "http",
      tag: "rest",
    });
    expect(logsIn(answer)).toMatchObject([
      ...sources.map((source) => ({ source, protocol: "tcp", labels: ["team"] })),
      { source: "generic", protocol: "http", tag: "rest" },
    ]);
  });

  it.each([
    ["no streams", [], "logs"],
    ["six streams", Array.from({ length: 6 }, (_, index) => stream({ tag: `tag${index}` })), "logs"],
    ["a tag twice", [stream(), stream()], "logs[1].tag"],
    ["a short tag", [stream({ tag: "ab" })], "logs[0].tag"],
    ["a long tag", [stream({ tag: "a".repeat(21) })], "logs[0].tag"],
    ["a tag with a dash", [stream({ tag: "my-tag" })], "logs[0].tag"],
    ["no tag", [stream({ tag: undefined })], "logs[0].tag"],
    ["an unknown source", [stream({ source: "journal" })], "logs[0].source"],
    ["no protocol", [stream({ protocol: undefined })], "logs[0].protocol"],
    ["an unknown protocol", [stream({ protocol: "udp" })], "logs[0].protocol"],
    ["the source http over tcp", [stream({ source: "http" })], "logs[0].protocol"],
    ["a retention of 8 days", [stream({ retentionInDays: 8 })], "logs[0].retentionInDays"],
    ["a retention as text", [stream({ retentionInDays: "7" })], "logs[0].retentionInDays"],
    [
      "two retentions",
      [stream({ retentionInDays: 7, destinations: [{ type: "loki", retentionInDays: 14 }] })],
      "logs[0].retentionInDays",
    ],
    ["another destination", [stream({ destinations: [{ type: "s3" }] })], "logs[0].destinations[0].type"],
    ["two destinations", [stream({ destinations: [{ type: "loki" }, { type: "loki" }] })], "logs[0].destinations"],
    ["labels that are no texts", [stream({ labels: [7] })], "logs[0].labels[0]"],
  ])("refuses %s and names the field", async (_, logs, field) => {
    expect(refusal(await post(...logs), 422, codes.validation)).toContain(`[(root).properties.${field}]`);
  });

  it("refuses a name that is missing or longer than 20 characters", async () => {
    for (const name of [undefined, "x".repeat(21)]) {
      const answer = await logging.call("POST", "/pipelines", { properties: { name, logs: [stream()] } });
      expect(refusal(answer, 422, codes.validation)).toContain("[(root).properties.name]");
    }
  });

  it("needs the privilege of logging", async () => {
    const { token } = await platform.user("metrics-only@example.org", { privileges: ["accessAndManageMonitoring"] });
    const as = (authorization: string | null) =>
      logging.call("POST", "/pipelines", { properties: { name: "shop", logs: [stream()] } }, { authorization });
    expect(refusal(await as(`Bearer ${token}`), 403, "paas-logging-451")).toContain(
      "Access and manage Logging Service",
    );
    refusal(await as(null), 401, "paas-logging-315");
    const list = await logging.call("GET", "/pipelines", undefined, { authorization: `Bearer ${token}` });
    refusal(list, 403, "paas-logging-451");
  });
});

describe("changing a log pipeline", () => {
  it("takes a PATCH of some properties and keeps the others", async () => {
    const { path } = await logging.made({ logs: [stream({ retentionInDays: 7 })], resourceTier: "S" });
    const patched = await logging.call("PATCH", path, { properties: { name: "renamed" } });
    expect(patched).toMatchObject({
      status: 200,
      body: {
        properties: { name: "renamed", status: "PROVISIONING", resourceTier: "S", logs: [{ retentionInDays: 7 }] },
      },
    });
    await platform.advance(3);
    await logging.call("PATCH", path, { properties: { logs: [stream({ tag: "other" })] } });
    await platform.advance(3);
    expect(await read(path)).toMatchObject({
      body: { properties: { name: "renamed", status: "Ready", logs: [{ tag: "other", retentionInDays: 30 }] } },
    });
  });

  it("refuses what a creation would refuse, and a PUT altogether", async () => {
    const { path } = await logging.made();
    const patch = (properties: object) => logging.call("PATCH", path, { properties });
    refusal(await patch({ logs: [] }), 422, codes.validation);
    refusal(await patch({ name: "x".repeat(21) }), 422, codes.validation);
    expect(await logging.call("PUT", path, { properties: {} })).toMatchObject({ status: 405 });
  });
});

describe("deleting a log pipeline", () => {
  it("answers 202 with the pipeline DESTROYING, and then it is gone", async () => {
    const { id, path } = await logging.made();
    expect(await logging.call("DELETE", path)).toMatchObject({
      status: 202,
      body: { id, metadata: { state: "DESTROYING" }, properties: { status: "DESTROYING" } },
    });
    await platform.advance(3);
    refusal(await read(path), 404, codes.missing);
    expect(items(await read("/pipelines?limit=1000")).map((each) => each.id)).not.toContain(id);
  });
});

describe("metric and log pipelines", () => {
  it("do not see each other", async () => {
    const { path } = await logging.made();
    refusal(await serviceFor(platform, "monitoring").call("GET", path), 404, "paas-monitoring-309");
  });
});

describe("kept in a data directory", () => {
  it("pipelines and their progress survive a restart; keys are in no file", async () => {
    const data = mkdtempSync(join(tmpdir(), "mooring-pipelines-"));
    const first = await startPlatform({ data });
    const service = serviceFor(first, "logging");
    const { path, key } = await service.made();
    const metrics = await serviceFor(first, "monitoring").made();
    const replaced = keyIn(await service.call("POST", `${path}/key`, {}));
    const { id: young } = resource(
      await service.call("POST", "/pipelines", { properties: { name: "young", logs: [stream()] } }),
    );
    await first.close();

    const files = readdirSync(data, { withFileTypes: true }).filter((each) => each.isFile());
    const text = files.map(({ name }) => readFileSync(join(data, name), "utf8")).join();
    expect(text).toContain(metrics.id);
    for (const each of [key, replaced, metrics.key]) {
      expect(text).not.toContain(each);
      expect(text).not.toContain(Buffer.from(each).toString("base64"));
    }

    const second = await startPlatform({ data });
    const again = serviceFor(second, "logging");
    await second.advance(7);
    expect(await again.call("GET", `/pipelines/${young}`)).toMatchObject({
      body: { metadata: { state: "AVAILABLE" } },
    });
    const push = (apikey: string) =>
      second.call("POST", `/ingest/metrics/${metrics.id}/api/v1/push`, undefined, {
        authorization: null,
        raw: "up 1\n",
        headers: { apikey, "content-type": "text/plain" },
      });
    expect(await push(metrics.key)).toMatchObject({ status: 204 });
    expect(await push(key)).toMatchObject({ status: 401 });
    await second.close();
    rmSync(data, { recursive: true });
  });
});

describe("the state", () => {
  it("shows pipelines of both products without keys", async () => {
    const { id, path, key } = await logging.made({ name: "inside" });
    const second = keyIn(await logging.call("POST", `${path}/key`, {}));
    const metrics = await serviceFor(platform, "monitoring").made({ name: "numbers" });
    const state = await platform.steer("GET", "state");
    const common = { type: "pipeline", region: "de-txl", state: "AVAILABLE", visible: true, failure: null };
    expect(state).toMatchObject({
      logPipelines: expect.arrayContaining([
        expect.objectContaining({
          id,
          ...common,
          keyVersion: 2,
          properties: expect.objectContaining({ name: "inside" }),
        }),
      ]),
      metricPipelines: [{ id: metrics.id, ...common, keyVersion: 1, properties: { name: "numbers" } }],
    });
    for (const each of [key, second, metrics.key]) expect(JSON.stringify(state)).not.toContain(each);
  });
});

const logsIn = (answer: Answer) => z.array(z.looseObject({})).parse(resource(answer).properties.logs);
