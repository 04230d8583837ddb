import { beforeAll, describe, expect, it } from "vitest";
import { cluster } from "../harness.ts";
import { type Landscape, landscape } from "../landscape.ts";
import { datacenter, server } from "../objects.ts";

const COUNT = 150;
const names = Array.from({ length: COUNT }, (_, index) => `server-${index}`);

let world: Landscape;

beforeAll(async () => {
  world = await landscape({ simulator: ["--speed", "1"], elected: true });
});

/** Writes that the API server counted, by verb and resource, without the Lease and kubectl. */
async function writes(resources: string[]): Promise<number> {
  const { stdout } = await cluster().kubectl(["get", "--raw", "/metrics"]);
  return (
    stdout
      .split("\n")
      .filter(
        (line) => line.startsWith("apiserver_request_total{") && /verb="(APPLY|PATCH|POST|PUT|DELETE)"/.test(line),
      )
      // A write that was refused because of a conflict wrote nothing.
      .filter((line) => /code="2.."/.test(line))
      .filter((line) => resources.some((resource) => line.includes(`resource="${resource}"`)))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0)
  );
}

/** One list of all objects: `kubectl wait` checks its objects one by one. */
async function readyServers(): Promise<number> {
  const path = '{.items[*].status.conditions[?(@.type=="Ready")].status}';
  return (await world.value("servers", path)).split(" ").filter((status) => status === "True").length;
}

/** Objects that rested long enough to get the annotation with their claim, which is one more write. */
async function annotated(): Promise<number> {
  const path = "{.items[*].metadata.annotations.mooring\\.dev/external-id}";
  return (await world.value("servers", path)).split("} {").filter((claim) => claim !== "").length;
}

const ours = ["accounts", "datacenters", "servers", "events", "secrets"];

/** The burst of Events with the second reason. */
const EVENTS = 100;

describe("cost follows change, not size", () => {
  it(`${COUNT} servers at once become Ready with 1.5 platform calls and 4 Kubernetes writes each, and a bounded number of Events`, async () => {
    await world.apply(datacenter("dc"));
    await world.untilReady("account/main", "datacenter/dc");
    await world.platform.resetCalls();
    const before = await writes(["servers", "events"]);
    await world.apply(...names.map((name) => server(name)));
    await expect.poll(readyServers, { timeout: 240_000, interval: 2000 }).toBe(COUNT);
    const written = (await writes(["servers", "events"])) - before;
    const { total, byRoute } = await world.platform.calls();
    console.log(`${COUNT} servers: ${total} platform calls, ${written} Kubernetes writes`, byRoute);
    expect((await world.platform.resources("servers")).length).toBe(COUNT);
    // The API server also counts kubectl's creation of each object. Each creation has two Events, limited to a burst of
    // 100 per reason and then one per second.
    expect(written - COUNT).toBeLessThanOrEqual(4 * COUNT + EVENTS + (await annotated()));
    expect(total).toBeLessThanOrEqual(1.5 * COUNT);
  }, 300_000);

  it("at rest for two minutes nothing is written, and a resync costs three calls", async () => {
    await expect.poll(annotated, { timeout: 120_000, interval: 2000 }).toBe(COUNT);
    expect(await readyServers()).toBe(COUNT);
    await world.platform.resetCalls();
    const before = await writes(ours);
    await new Promise((resolve) => setTimeout(resolve, 120_000));
    expect((await writes(ours)) - before).toBe(0);
    const { byRoute } = await world.platform.calls();
    expect(Object.keys(byRoute).filter((route) => !route.startsWith("GET "))).toEqual([]);

    await world.platform.resetCalls();
    await world.annotate("server/server-0", "mooring.dev/reconcile-at=now");
    await expect.poll(async () => (await world.platform.calls()).total, { timeout: 60_000 }).toBeGreaterThan(0);
    expect(await readyServers()).toBe(COUNT);
    expect((await world.platform.calls()).total).toBeLessThanOrEqual(3);
  }, 300_000);
});
