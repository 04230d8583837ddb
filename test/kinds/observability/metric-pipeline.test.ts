import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { metricPipeline } from "../../../src/kinds/observability/metric-pipeline.ts";
import { serviceFor } from "../../simulator/pipelines.ts";
import { type Platform, startPlatform } from "../../simulator/platform.ts";
import { inputs, mapped, nothing, renewableKey, sent } from "../mapped.ts";
import { create, type Resident } from "../resident.ts";

const mapping = mapped(metricPipeline);
const named = inputs({ parents: {} });
const endpoints = { httpEndpoint: "https://push.example.com", grafanaEndpoint: "https://grafana.example.com" };
const item = (properties: object = {}, metadata: object = endpoints) => ({
  id: "mp-1",
  metadata,
  properties: { name: "web", status: "AVAILABLE", ...properties },
});

describe("a metric pipeline's name", () => {
  it("is the object's, unless spec says another", () => {
    expect(mapping.desire({}).body(named)).toEqual({ properties: { name: "web" } });
    expect(mapping.desire({ name: "front" }).body(named)).toEqual({ properties: { name: "front" } });
  });

  it("is changed by PUT, with the id in the body as well", () => {
    const body = { id: "mp-1", properties: { name: "front" } };
    expect(mapping.desire({ name: "front" }).compare(item(), named)).toEqual({
      drift: [{ field: "name", wanted: "front", found: "web" }],
      next: { action: "update", method: "PUT", path: "/pipelines/mp-1", body },
    });
  });

  it("is sent again, as it is, when the platform has failed", () => {
    const body = { id: "mp-1", properties: { name: "web" } };
    expect(mapping.desire({}).compare(item(), { ...named, failed: true })).toEqual({
      drift: [],
      next: { action: "update", method: "PUT", path: "/pipelines/mp-1", body },
    });
  });

  it("of more than 20 characters has to be given in spec, unless the pipeline is only observed", () => {
    const long = { ...named, name: "metrics-of-the-whole-shop" };
    expect(mapping.desire({}).problem(long)).toBe(
      'name: "metrics-of-the-whole-shop" has 25 characters; at most 20 are allowed: set spec.name',
    );
    expect(mapping.desire({ name: "shop" }).problem(long)).toBeUndefined();
    expect(mapping.desire({}).problem({ ...long, observed: true })).toBeUndefined();
    expect(mapping.desire({}).problem({ ...long, name: "x".repeat(20) })).toBeUndefined();
  });

  it("is no difference where the pipeline is observed and spec does not say one", () => {
    expect(mapping.desire({}).compare(item({ name: "theirs" }), { ...named, observed: true })).toEqual({ drift: [] });
  });
});

describe("a metric pipeline's Secret", () => {
  const publication = mapping.desire({}).publication(named);

  it("is called like the object and its kind, unless spec says another name", () => {
    expect(publication?.name).toBe("web-metricpipeline");
    expect(mapping.desire({ secretName: "push" }).publication(named)?.name).toBe("push");
  });

  it("holds the push URL, the key, the dashboard and configuration for five agents", () => {
    const data = publication?.data(item(), "the-key", () => "") ?? {};
    expect(data).toMatchObject({
      endpoint: "https://push.example.com/api/v1/push",
      key: "the-key",
      grafanaEndpoint: "https://grafana.example.com",
    });
    expect(Object.keys(data).slice(3)).toEqual([
      "prometheus.yaml",
      "grafana-agent.yaml",
      "config.alloy",
      "otel-collector.yaml",
      "fluent-bit.conf",
    ]);
    for (const file of Object.values(data).slice(3)) expect(file).toContain("the-key");
  });

  it("pushes every minute unless spec says otherwise", () => {
    const files = (spec: object) =>
      mapping
        .desire(spec)
        .publication(named)
        ?.data(item(), "the-key", () => "") ?? {};
    expect(files({})["prometheus.yaml"]).toContain("scrape_interval: 60s");
    expect(files({ pushInterval: "5m" })["prometheus.yaml"]).toContain("scrape_interval: 300s");
  });

  it("can be written before the platform has said where to push", () => {
    expect(publication?.data(item({}, {}), "the-key", () => "")).toMatchObject({
      endpoint: "",
      key: "the-key",
      grafanaEndpoint: "",
    });
  });
});

describe("a rotation", () => {
  it("is none unless spec asks for it", () => {
    expect(mapping.desire({}).rotation()).toBeUndefined();
  });

  it.each([
    ["every day", { every: "24h" }, { everySeconds: 86_400 }],
    ["every week, by night", { every: "P7D", at: "03:00" }, { everySeconds: 604_800, at: "03:00" }],
  ])("%s is understood", (_, keyRotation, expected) => {
    expect(mapping.desire({ keyRotation }).rotation()).toEqual(expected);
  });

  it("has its key in the answer to creation and renewal, and nowhere else", () => {
    expect(mapping.secret?.key?.created(item({}, { key: "fresh" }))).toBe("fresh");
    expect(mapping.secret?.key?.created(item())).toBeUndefined();
    expect(renewableKey(mapping).renewed({ key: "fresh" })).toBe("fresh");
    expect(renewableKey(mapping).renewed({})).toBeUndefined();
    expect(renewableKey(mapping).renewal("mp/1", {})).toMatchObject({ method: "POST", path: "/pipelines/mp%2F1/key" });
  });
});

it("the facts of a metric pipeline are its addresses, as far as they are known", () => {
  expect(mapping.comparison.facts(item(), nothing)).toEqual(endpoints);
  expect(mapping.comparison.facts(item({}, { httpEndpoint: null }), nothing)).toEqual({});
  expect(metricPipeline.status.strict().parse(endpoints)).toEqual(endpoints);
});

describe("a metric pipeline on the platform", () => {
  let platform: Platform;
  let resident: Resident;
  beforeAll(async () => {
    platform = await startPlatform();
    resident = await create(platform, metricPipeline, {}, named);
  });
  afterAll(() => platform.close());

  it("is up to date once it is there", async () => {
    expect(await resident.settle({}, named)).toEqual([]);
    const { api } = platform.ready.endpoints;
    expect(await resident.facts(named)).toEqual({
      httpEndpoint: `${api}/ingest/metrics/${resident.id}`,
      grafanaEndpoint: `${api}/dashboards/de-txl`,
    });
  });

  it("takes another name, once, and back", async () => {
    expect(await resident.settle({ name: "front" }, named)).toEqual(["update"]);
    expect(await resident.settle({}, named)).toEqual(["update"]);
    expect(await resident.settle({}, named)).toEqual([]);
  });

  it("is recognised by what its creation said", async () => {
    const body = sent(mapping.desire({}).body(named));
    expect(mapping.identity.echo?.(await resident.seen())).toEqual(mapping.identity.echo?.(body));
    const other = mapping.desire({ name: "other" }).body(named);
    expect(mapping.identity.echo?.(await resident.seen())).not.toEqual(mapping.identity.echo?.(other));
  });

  it("takes a push with what the Secret holds, until the key is renewed", async () => {
    const { call } = serviceFor(platform, "monitoring");
    const renewal = renewableKey(mapping).renewal(resident.id, {});
    const renew = async () => (await call("POST", renewal?.path ?? "", renewal?.body)).body;
    const push = async (key: string) => {
      const { endpoint } =
        mapping
          .desire({})
          .publication(named)
          ?.data(await resident.seen(), key, () => "") ?? {};
      const headers = { apikey: key, "content-type": "text/plain" };
      return (await fetch(String(endpoint), { method: "POST", headers, body: "alive 1\n" })).status;
    };
    const first = renewableKey(mapping).renewed(await renew()) ?? "";
    expect(await push(first)).toBe(204);
    const second = renewableKey(mapping).renewed(await renew()) ?? "";
    expect([await push(first), await push(second)]).toEqual([401, 204]);
  });
});
