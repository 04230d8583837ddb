import { describe, expect, it } from "vitest";
import { z } from "zod";
import { networkOf } from "../network.ts";
import { keyIn, serviceFor, stream } from "../pipelines.ts";
import { platformForFile, refusal, resource } from "../platform.ts";

const platform = await platformForFile();
const logging = serviceFor(platform, "logging");
const http = (more: object = {}) => stream({ source: "generic", protocol: "http", tag: "web", ...more });
const ship = (id: string, key: string, raw = '{"message":"hello"}') =>
  platform.call("POST", `/ingest/logs/${id}/web`, undefined, {
    authorization: null,
    raw,
    headers: { apikey: key, "content-type": "application/json" },
  });
const lines = z.looseObject({
  lines: z.int(),
  items: z.array(z.looseObject({ tag: z.string(), at: z.unknown(), record: z.looseObject({}) })),
});
const received = async (query: string) => lines.parse(await platform.steer("GET", `lines?${query}`));
const dashboard = async () => (await fetch(`${platform.ready.endpoints.api}/dashboards/de-txl`)).text();

describe("the query window", () => {
  it("reaches back 30 days, whatever the retention; what is older is kept and not shown", async () => {
    const { id, key } = await logging.made({ name: "window", logs: [http({ retentionInDays: "unlimited" })] });
    expect((await ship(id, key, '{"message":"old-line"}')).status).toBe(204);
    await platform.advance(30 * 86_400 - 60);
    expect((await received(`pipeline=${id}`)).items).toHaveLength(1);
    expect(await dashboard()).toContain("old-line");
    await platform.advance(120);
    expect(await received(`pipeline=${id}`)).toMatchObject({ lines: 1, items: [] });
    const page = await dashboard();
    expect(page).not.toContain("old-line");
    expect(page).toContain("last 30 days");
  });
});

describe("a pipeline that is being provisioned", () => {
  it("refuses lines with 503 and Retry-After until it is ready, also with a new key, and not while it is changed", async () => {
    const made = await logging.call("POST", "/pipelines", { properties: { name: "early", logs: [http()] } });
    const { id, properties } = resource(made);
    const early = await ship(id, String(properties.key));
    refusal(early, 503, "paas-logging-200");
    expect(Number(early.headers.get("retry-after"))).toBeGreaterThan(0);
    const key = keyIn(await logging.call("POST", `/pipelines/${id}/key`, {}));
    refusal(await ship(id, key), 503, "paas-logging-200");
    await platform.advance(7);
    expect((await ship(id, key)).status).toBe(204);
    await logging.call("PATCH", `/pipelines/${id}`, { properties: { name: "later" } });
    expect((await ship(id, key)).status).toBe(204);
  });

  it("refuses metrics in the same way", async () => {
    const made = await serviceFor(platform, "monitoring").call("POST", "/pipelines", { properties: { name: "early" } });
    const { id, metadata } = resource(made);
    const push = () =>
      platform.call("POST", `/ingest/metrics/${id}/api/v1/push`, undefined, {
        authorization: null,
        raw: "up 1\n",
        headers: { apikey: String(metadata.key), "content-type": "text/plain" },
      });
    refusal(await push(), 503, "paas-monitoring-200");
    await platform.advance(7);
    expect((await push()).status).toBe(204);
  });
});

describe("central logging", () => {
  it("brings the lines of load balancers that ask for it, while it is on, and of no others", async () => {
    const datacenter = await platform.datacenter("de/txl");
    const network = networkOf(platform);
    const [listenerLan, targetLan] = [await network.lan(datacenter), await network.lan(datacenter)];
    const balancer = (name: string, centralLogging: boolean) =>
      platform.done("POST", `${datacenter}/applicationloadbalancers`, {
        properties: { name, listenerLan, targetLan, centralLogging },
      });
    await balancer("told", true);
    await balancer("silent", false);
    await platform.advance(600);
    expect((await received("central=de-txl")).items).toEqual([]);
    await logging.call("PUT", "/central", { properties: { enabled: true } });
    await platform.advance(600);
    const { items } = await received("central=de-txl");
    expect(items.length).toBeGreaterThan(2);
    for (const { tag, record } of items) {
      expect(tag).toBe("applicationloadbalancer");
      expect(record).toMatchObject({ name: "told", message: expect.stringContaining("told") });
    }
    expect(await dashboard()).toContain("applicationloadbalancer");
    expect((await received("central=de-fra")).items).toEqual([]);
    for (const enabled of [false, true]) await logging.call("PUT", "/central", { properties: { enabled } });
    await platform.advance(600);
    const times = (await received("central=de-txl")).items.map(({ at }) => at);
    expect(times).toEqual([...new Set(times)]);
    await logging.call("PUT", "/central", { properties: { enabled: false } });
    const { lines: before } = await received("central=de-txl");
    await platform.advance(600);
    expect((await received("central=de-txl")).lines).toBe(before);
  });
});
