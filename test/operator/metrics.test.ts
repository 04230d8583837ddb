import perfHooks from "node:perf_hooks";
import { expect, test, vi } from "vitest";
import { createMetrics } from "../../src/operator/metrics.ts";
import { objectOf, readyCondition } from "../engine/support/fixtures.ts";
import { fakeClock } from "../fake-clock.ts";
import { turnsOf } from "../turns.ts";

function open(mostObjects = 100) {
  const clock = fakeClock();
  const metrics = createMetrics({ clock, mostObjects });
  metrics.leading(true);
  /** The lines of a metric, as Prometheus reads them. */
  const shown = async (name: string) => {
    let text = "";
    for await (const piece of metrics.scrape()) text += piece;
    return text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  };
  return { clock, metrics, shown };
}

const condition = (reason: string, more: object = {}, generation = 1) => ({
  observedGeneration: generation,
  conditions: [{ ...readyCondition(reason === "Available" ? "True" : "False"), reason }],
  ...more,
});
const server = (name: string, status: object, generation = 1) =>
  objectOf("Server", name, { status, metadata: { name, generation } });

test("each object has one line with its present reason, for as long as it is there", async () => {
  const { metrics, shown } = open();
  const line = (name: string, reason: string, value: number) =>
    `mooring_object_ready{kind="Server",namespace="shop",name="${name}",reason="${reason}"} ${value}`;
  metrics.object("Server/shop/a", server("a", condition("Creating")));
  metrics.object("Server/shop/b", server("b", {}));
  metrics.object("Server/shop/a", server("a", condition("Available")));
  expect(await shown("mooring_object_ready")).toEqual([line("a", "Available", 1), line("b", "Pending", 0)]);
  expect(await shown("mooring_objects")).toEqual([
    'mooring_objects{kind="Server",namespace="shop",reason="Pending",state="reconciling"} 1',
    'mooring_objects{kind="Server",namespace="shop",reason="Available",state="ready"} 1',
  ]);
  metrics.object("Server/shop/a", undefined);
  expect(await shown("mooring_object_ready")).toEqual([line("b", "Pending", 0)]);
  expect(await shown("mooring_objects")).toHaveLength(1);
  // An object that is Ready for an older generation is not up to date.
  metrics.object("Server/shop/b", server("b", condition("Available"), 2));
  expect(await shown("mooring_object_ready")).toEqual([line("b", "Available", 0)]);
});

test("an object that waits for a person is counted apart from one that waits by itself", async () => {
  const { metrics, shown } = open();
  const { conditions, ...rest } = condition("Rejected");
  const stalled = { ...readyCondition("True"), type: "Stalled", reason: "Rejected" };
  metrics.object("Server/shop/a", server("a", { ...rest, conditions: [...conditions, stalled] }));
  expect(await shown("mooring_objects")).toEqual([
    'mooring_objects{kind="Server",namespace="shop",reason="Rejected",state="stalled"} 1',
  ]);
});

test("with more objects than are allowed to have a line, they are counted by kind, namespace and reason", async () => {
  const { metrics, shown } = open(3);
  for (const name of ["a", "b", "c", "d"]) metrics.object(`Server/shop/${name}`, server(name, condition("Available")));
  expect(await shown("mooring_object_ready")).toEqual([]);
  expect(await shown("mooring_objects")).toEqual([
    'mooring_objects{kind="Server",namespace="shop",reason="Available",state="ready"} 4',
  ]);
  metrics.object("Server/shop/d", undefined);
  expect(await shown("mooring_object_ready")).toHaveLength(3);
});

test("a standby tells nothing of objects, so that nothing is counted twice", async () => {
  const { metrics, shown } = open();
  metrics.object("Server/shop/a", server("a", condition("Available")));
  metrics.leading(false);
  expect(await shown("mooring_object_ready")).toEqual([]);
});

test("labels are from the closed list for any status of an Account", async () => {
  const { metrics, shown } = open();
  metrics.object("ClusterAccount/shared", server("shared", condition('x"} 1\nevil{y="')));
  expect(await shown("mooring_object_ready")).toEqual([
    'mooring_object_ready{kind="ClusterAccount",namespace="",name="shared",reason="Unknown"} 0',
  ]);
  expect(await shown("evil")).toEqual([]);
});

test("tokens and certificates tell when they expire for as long as their object is there", async () => {
  const { metrics, shown } = open();
  const certificate = { version: 1, serial: "1", issuedAt: "2026-01-01T00:00:00.000Z", fingerprint: "AA" };
  const user = (name: string, expiresAt: string) =>
    metrics.object(`KafkaUser/shop/${name}`, server(name, { certificate: { ...certificate, expiresAt } }));
  const name = "mooring_certificate_expiry_timestamp_seconds";
  user("reader", "2027-01-01T00:00:00.000Z");
  user("writer", "2028-01-01T00:00:00.000Z");
  user("reader", "2029-01-01T00:00:00.000Z");
  const writer = `${name}{kind="KafkaUser",namespace="shop",name="writer"} 1830297600`;
  expect(await shown(name)).toEqual([`${name}{kind="KafkaUser",namespace="shop",name="reader"} 1861920000`, writer]);
  metrics.object("KafkaUser/shop/reader", undefined);
  expect(await shown(name)).toEqual([writer]);
  metrics.object("Account/shop/main", server("main", { tokenExpiresAt: "2027-01-01T00:00:00.000Z" }));
  expect(await shown("mooring_token_expiry_timestamp_seconds")).toEqual([
    'mooring_token_expiry_timestamp_seconds{kind="Account",namespace="shop",name="main",renewed="false"} 1798761600',
  ]);
  const key = { version: 1, issuedAt: "2026-01-01T00:00:00.000Z", fingerprint: "0123" };
  metrics.object("Account/shop/main", undefined);
  metrics.object("AccessToken/shop/job", server("job", { key, tokenExpiresAt: "2027-01-01T00:00:00.000Z" }));
  expect(await shown("mooring_token_expiry_timestamp_seconds")).toEqual([
    'mooring_token_expiry_timestamp_seconds{kind="AccessToken",namespace="shop",name="job",renewed="true"} 1798761600',
  ]);
  metrics.object("AccessToken/shop/job", undefined);
  metrics.object("LogPipeline/shop/logs", server("logs", { key }));
  expect(await shown("mooring_key_issued_timestamp_seconds")).toEqual([
    'mooring_key_issued_timestamp_seconds{kind="LogPipeline",namespace="shop",name="logs"} 1767225600',
  ]);
});

test("drift that was corrected is counted by kind", async () => {
  const { metrics, shown } = open();
  for (const kind of ["Server", "Lan", "Server"]) metrics.drift(kind);
  expect(await shown("mooring_drift_corrected_total")).toEqual([
    'mooring_drift_corrected_total{kind="Server"} 2',
    'mooring_drift_corrected_total{kind="Lan"} 1',
  ]);
});

test("the time from apply to Ready counts from a creation and from each change of spec", async () => {
  const { clock, metrics, shown } = open();
  const sum = async () => (await shown("mooring_apply_to_ready_seconds_sum")).map((line) => line.split(" ")[1]);
  const see = (status: object, generation = 1) => metrics.object("Server/shop/a", server("a", status, generation));
  see({});
  clock.spend(4000);
  see(condition("Creating"));
  clock.spend(3000);
  see(condition("Available"));
  see(condition("Available"));
  expect(await sum()).toEqual(["7"]);
  see(condition("Available"), 2);
  clock.spend(2000);
  see(condition("Available", {}, 2), 2);
  expect(await sum()).toEqual(["9"]);
});

test("however many endpoints tenants name, and whatever these answer, the series stay few", async () => {
  const { metrics, shown } = open();
  const call = { account: "shop/main", product: "core", method: "GET", seconds: 0.1, waited: 0 };
  metrics.platform({ ...call, route: "/cloudapi/v6/datacenters", status: 200 });
  for (let n = 0; n < 2_000; n++) {
    metrics.platform({ ...call, route: `/tenant-${n}`, status: 200 });
    metrics.platform({ ...call, route: "/cloudapi/v6/datacenters", status: 100 + (n % 900) });
  }
  const series = await shown("mooring_platform_requests_total");
  expect(series.length).toBeLessThan(140);
  expect(series).toContain(
    'mooring_platform_requests_total{product="core",method="GET",route="other",code="200"} 1901',
  );
});

test("queue, workers and pacers are told as they are when asked", async () => {
  const { metrics, shown } = open();
  const pacers = [
    { accounts: ["shop/main"], pacer: { rate: 50, isClosed: false, waiting: 0 } },
    { accounts: ["shop/main", "shop/main", "blog/main"], pacer: { rate: 3, isClosed: true, waiting: 7 } },
  ];
  const queue = { inWork: () => [2, 5], oldest: () => 12 };
  const skews = [{ account: "shop/main", aheadMs: -3_960_000 }];
  metrics.watch({ queue, workers: 16, transport: { pacers: () => pacers, skews: () => skews } });
  expect(await shown("mooring_platform_clock_skew_seconds")).toEqual([
    'mooring_platform_clock_skew_seconds{account="shop/main"} -3960',
  ]);
  expect(await shown("mooring_platform_pacers")).toEqual([
    'mooring_platform_pacers{account="shop/main",state="open"} 1',
    'mooring_platform_pacers{account="shop/main",state="closed"} 1',
    'mooring_platform_pacers{account="blog/main",state="closed"} 1',
  ]);
  expect(await shown("mooring_platform_slowest_rate")).toEqual([
    'mooring_platform_slowest_rate{account="shop/main"} 3',
    'mooring_platform_slowest_rate{account="blog/main"} 3',
  ]);
  expect(await shown("mooring_platform_waiting_calls")).toEqual([
    'mooring_platform_waiting_calls{account="shop/main"} 7',
    'mooring_platform_waiting_calls{account="blog/main"} 7',
  ]);
  pacers.splice(1);
  expect(await shown("mooring_platform_pacers")).toEqual([
    'mooring_platform_pacers{account="shop/main",state="open"} 1',
  ]);
  expect(await shown("workqueue_oldest_seconds")).toEqual(['workqueue_oldest_seconds{name="mooring"} 12']);
  expect(await shown("workqueue_longest_running_processor_seconds")).toEqual([
    'workqueue_longest_running_processor_seconds{name="mooring"} 5',
  ]);
});

test("a scrape of 50,000 objects gives the event loop a turn every few lines", async () => {
  const [LINE_MS, PROMISED_MS] = [0.01, 25];
  const clock = fakeClock();
  using lines = turnsOf();
  const monotonic = () => {
    lines.count();
    clock.spend(LINE_MS);
    return clock.monotonic();
  };
  const metrics = createMetrics({ clock: { ...clock, monotonic }, mostObjects: 50_000 });
  const { metadata, ...rest } = server("a", condition("Available"));
  for (let n = 0; n < 50_000; n++) metrics.object(`Server/shop/s${n}`, { ...rest, metadata });
  metrics.leading(true);
  let reported = 0;
  for await (const piece of metrics.scrape()) reported += piece.split("mooring_object_ready{").length - 1;
  expect(reported).toBe(50_000);
  expect(lines.most()).toBeLessThanOrEqual(PROMISED_MS / LINE_MS);
});

test("series that only one Account has are dropped with it, and make room for others", async () => {
  const { metrics, shown } = open();
  const series = () => shown("mooring_platform_requests_total");
  const call = { product: "core", method: "GET", seconds: 0.1, waited: 0, status: 200 };
  metrics.platform({ ...call, account: "shop/main", route: "/datacenters" });
  const before = await series();
  metrics.platform({ ...call, account: "evil/one", route: "/datacenters" });
  for (let n = 0; n < 2_000; n++) {
    metrics.platform({ ...call, account: "evil/one", route: `/evil/${n}`, status: n % 2 ? 200 : 404 });
  }
  metrics.closed("evil/one");
  const after = (await series()).filter((line) => !line.includes('route="other"'));
  expect(after.map((line) => line.replace(/ \S+$/, ""))).toEqual(before.map((line) => line.replace(/ \S+$/, "")));
  metrics.platform({ ...call, account: "shop/main", route: "/servers" });
  expect(await series()).toContain(
    'mooring_platform_requests_total{product="core",method="GET",route="/servers",code="200"} 1',
  );
});

test("Node's process metrics are in the metrics of every operator, and measured once", async () => {
  const one = open();
  using delays = vi.spyOn(perfHooks, "monitorEventLoopDelay");
  const another = open();
  expect(delays).not.toHaveBeenCalled();
  for (const { shown } of [one, another]) {
    expect(await shown("process_resident_memory_bytes")).toHaveLength(1);
    expect(await shown("nodejs_eventloop_lag_p99_seconds")).toHaveLength(1);
  }
});
