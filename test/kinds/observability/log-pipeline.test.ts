import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { logPipeline } from "../../../src/kinds/observability/log-pipeline.ts";
import { stream } from "../../simulator/pipelines.ts";
import { type Platform, startPlatform } from "../../simulator/platform.ts";
import { inputs, mapped, nothing, sent } from "../mapped.ts";
import { create, type Resident } from "../resident.ts";

const mapping = mapped(logPipeline);
const named = inputs({ parents: {} });
const spec = { logs: [stream()] };
const found = (more: object = {}) => ({
  ...stream({ labels: [], retentionInDays: 30, destinations: [{ type: "loki", retentionInDays: 30 }] }),
  ...more,
});
const item = (properties: object = {}) => ({
  id: "lp-1",
  metadata: { state: "AVAILABLE" },
  properties: { name: "web", logs: [found()], status: "Ready", ...properties },
});
const compare = (logs: object[], properties: object = {}) => mapping.desire({ logs }).compare(item(properties), named);

describe("the body of a log pipeline", () => {
  it("says the retention in both of the platform's spellings, 30 days unless spec says otherwise", () => {
    expect(mapping.desire(spec).body(named)).toEqual({
      properties: {
        name: "web",
        logs: [{ ...stream(), retentionInDays: 30, destinations: [{ type: "loki", retentionInDays: 30 }] }],
      },
    });
  });

  it.each([
    ["7", 7, 7],
    [14, 14, 14],
    ["unlimited", "unlimited", 0],
  ])("keeps records for %s days", (retentionInDays, direct, inDestination) => {
    const logs = [stream({ retentionInDays })];
    expect(mapping.desire({ logs }).body(named)).toMatchObject({
      properties: { logs: [{ retentionInDays: direct, destinations: [{ retentionInDays: inDestination }] }] },
    });
  });

  it("sends JSON over HTTP as what the platform calls it: generic", () => {
    const logs = [stream({ source: "http", protocol: "http" })];
    expect(mapping.desire({ logs }).body(named)).toMatchObject({ properties: { logs: [{ source: "generic" }] } });
  });
});

describe("comparing a log pipeline", () => {
  it.each([
    ["what the platform fills in", {}],
    ["a retention told only in the destination", { logs: [found({ retentionInDays: null })] }],
    ["a retention told only directly", { logs: [found({ destinations: null })] }],
    ["a retention told as a text", { logs: [found({ retentionInDays: "30", destinations: null })] }],
    ["a retention not told at all", { logs: [found({ retentionInDays: null, destinations: [] })] }],
  ])("finds no difference in %s", (_, properties) => {
    expect(compare(spec.logs, properties)).toEqual({ drift: [] });
  });

  it("does not mind another order of the streams", () => {
    const two = [stream(), stream({ tag: "app", source: "generic" })];
    const shown = [found({ tag: "app", source: "generic" }), found()];
    expect(compare(two, { logs: shown })).toEqual({ drift: [] });
  });

  it.each([
    ["another tag", { tag: "other" }, ["logs[other]", "logs[k8s]"]],
    ["another source", { source: "docker" }, ["logs[k8s].source"]],
    ["another protocol", { protocol: "http" }, ["logs[k8s].protocol"]],
    ["another retention", { retentionInDays: "7" }, ["logs[k8s].retentionInDays"]],
    ["an unlimited retention", { retentionInDays: "unlimited" }, ["logs[k8s].retentionInDays"]],
  ])("brings %s to the platform by PATCH, with all streams", (_, change, fields) => {
    const { drift, next } = compare([stream(change)]);
    expect(drift.map(({ field }) => field)).toEqual(fields);
    expect(next).toMatchObject({ method: "PATCH", path: "/pipelines/lp-1", body: { properties: { name: "web" } } });
  });

  it("notices a stream that somebody has added or taken away", () => {
    expect(compare(spec.logs, { logs: [found(), found({ tag: "more" })] }).next).toBeDefined();
    expect(compare(spec.logs, { logs: [] }).next).toBeDefined();
  });

  it("sends all of it again, as it is, when the platform has failed", () => {
    const { drift, next } = mapping.desire(spec).compare(item(), { ...named, failed: true });
    expect(drift).toEqual([]);
    const body = mapping.desire(spec).body(named);
    expect(next).toEqual({ action: "update", method: "PATCH", path: "/pipelines/lp-1", body });
  });

  it("that is only observed finds no difference where spec has nothing but the identity", () => {
    const observe = mapping.desire({ externalId: "lp-1", managementPolicy: "Observe" });
    expect(observe.compare(item({ name: "theirs" }), { ...named, observed: true })).toEqual({ drift: [] });
  });
});

describe("a log pipeline's Secret", () => {
  const addresses = {
    tcpAddress: "tcp.example.com:9000",
    httpAddress: "https://http.example.com/in",
    grafanaAddress: "https://grafana.example.com",
  };

  it("holds both addresses, the key, the dashboard and a Fluent Bit configuration for each protocol", () => {
    const logs = [found(), found({ tag: "app", protocol: "http" })];
    const { name, data } = mapping.desire(spec).publication(named) ?? {};
    expect(name).toBe("web-logpipeline");
    const {
      "fluent-bit.conf": forward,
      "fluent-bit-http.conf": http,
      ...rest
    } = data?.(item({ logs, ...addresses }), "k", () => "") ?? {};
    expect(rest).toEqual({
      tcpAddress: "tcp.example.com:9000",
      httpAddress: "https://http.example.com/in",
      key: "k",
      grafanaEndpoint: "https://grafana.example.com",
    });
    expect(forward).toMatch(/Match +k8s\.\*\n/);
    expect(forward).not.toMatch(/Match +app/);
    expect(http).toMatch(/Match +app/);
    expect(http).not.toMatch(/Match +k8s/);
  });

  it("can be written before the platform has told its addresses", () => {
    const { data } = mapping.desire(spec).publication(named) ?? {};
    expect(data?.(item(), "k", () => "")).toMatchObject({ key: "k", tcpAddress: "", httpAddress: "" });
  });

  it("is not all that shows them: the facts do as well", () => {
    const facts = mapping.comparison.facts(item(addresses), nothing);
    const { grafanaAddress: grafanaEndpoint, ...others } = addresses;
    expect(facts).toEqual({ ...others, grafanaEndpoint });
    expect(logPipeline.status.strict().parse(facts)).toEqual(facts);
  });
});

describe("a log pipeline with labels", () => {
  it("keeps the labels that somebody else gave its streams, whatever is changed", () => {
    const logs = [
      { ...stream({ tag: "app" }), labels: ["team", "env"] },
      { ...stream({ tag: "gone" }), labels: ["old"] },
    ];
    const wanted = { logs: [stream({ tag: "app", retentionInDays: 7 }), stream({ tag: "fresh" })] };
    const { next } = mapping.desire(wanted).compare({ id: "p-1", properties: { name: named.name, logs } }, named);
    const { properties } = z.object({ properties: z.object({ logs: z.array(z.looseObject({})) }) }).parse(next?.body);
    expect(properties.logs.map(({ tag, labels }) => [tag, labels])).toEqual([
      ["app", ["team", "env"]],
      ["fresh", undefined],
    ]);
  });
});

describe("a log pipeline on the platform", () => {
  let platform: Platform;
  let resident: Resident;
  beforeAll(async () => {
    platform = await startPlatform();
    resident = await create(platform, logPipeline, spec, named);
  });
  afterAll(() => platform.close());

  it("is up to date once it is there", async () => {
    expect(await resident.settle(spec, named)).toEqual([]);
  });

  it("is recognised by what its creation said", async () => {
    expect(mapping.identity.echo?.(await resident.seen())).toEqual(
      mapping.identity.echo?.(sent(mapping.desire(spec).body(named))),
    );
    const other = mapping.desire({ logs: [stream({ tag: "other" })] }).body(named);
    expect(mapping.identity.echo?.(await resident.seen())).not.toEqual(mapping.identity.echo?.(sent(other)));
  });

  it.each([
    ["a name", { ...spec, name: "front" }],
    ["JSON over HTTP", { logs: [stream({ source: "http", protocol: "http" })] }],
    ["records without end", { logs: [stream({ retentionInDays: "unlimited" })] }],
    [
      "five streams",
      {
        logs: ["kubernetes", "docker", "systemd", "generic", "http"].map((source, index) =>
          stream({ source, tag: `tag${index}`, protocol: source === "http" ? "http" : "tcp", retentionInDays: "7" }),
        ),
      },
    ],
  ])("takes %s, once, and back", async (_, changed) => {
    expect(await resident.settle(changed, named)).toEqual(["update"]);
    expect(await resident.settle(spec, named)).toEqual(["update"]);
    expect(await resident.settle(spec, named)).toEqual([]);
  });
});
