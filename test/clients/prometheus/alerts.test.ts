import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { freePort } from "../../../src/cli/control-plane/probe.ts";
import { startCluster } from "../../../src/cli/control-plane/start.ts";
import { RECONCILE_AT } from "../../../src/engine/state/names.ts";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import type { OperatorProcess } from "../../cluster/chaos/operator.ts";
import { startPlatform } from "../../cluster/chaos/platform.ts";
import { openStage, type Stage } from "../../cluster/chaos/stage.ts";
import { datacenter, kafkaCluster } from "../../cluster/objects.ts";
import { brokerLan, home } from "../../subjects/surroundings.ts";
import { openBrowser } from "../browser.ts";
import { type Alert, startPrometheus } from "./prometheus.ts";
import { shippedMonitoring, shortened } from "./shipped.ts";
import { startStranger } from "./stranger.ts";
import { account, annotate, type Platforms, secret, through, troubles } from "./troubles.ts";

// A real Prometheus scrapes a running operator. The test causes the condition of every alert. Only times of hours are
// shortened.

const cleanup = new AsyncDisposableStack();
let shipped: Awaited<ReturnType<typeof shippedMonitoring>>;
let prometheus: Awaited<ReturnType<typeof startPrometheus>>;
let stage: Stage;
let operator: OperatorProcess;
let listen: string;
const platforms = {} as Platforms;

/** Labels that the Prometheus operator adds to scraped metrics. */
const target = (address: string, namespace: string) => ({
  targets: [address],
  labels: { namespace, service: namespace, pod: `${namespace}-0` },
});

beforeAll(async () => {
  const folder = cleanup.use(temporaryFolder("alerts"));
  const control = await startCluster();
  cleanup.defer(control.stop);
  for (const name of ["good", "failing", "throttling", "hanging"] as const) {
    platforms[name] = cleanup.use(await startPlatform({ speed: 60 }));
  }
  stage = cleanup.use(await openStage(control.kubeconfig));
  listen = `127.0.0.1:${await freePort()}`;
  operator = await startOperator();

  shipped = await shippedMonitoring();
  const rules = join(folder.path, "rules.yaml");
  writeFileSync(rules, stringify({ groups: [{ name: "mooring", rules: shipped.rules.map(shortened) }] }));
  const config = stringify({
    global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
    rule_files: [rules],
    scrape_configs: [
      {
        job_name: "mooring",
        honor_labels: shipped.scrape?.honorLabels,
        static_configs: [target(listen, "mooring-system")],
      },
      { job_name: "widgets", static_configs: [target(await startStranger(cleanup), "widgets")] },
    ],
  });
  prometheus = await startPrometheus(folder.path, "go", config);
}, 180_000);
afterAll(() => cleanup.disposeAsync());

function startOperator(): Promise<OperatorProcess> {
  const patience = ["--create-deadline", "20s", "--resync", "1s", "--retry", "1s"];
  return stage.operator({ everywhere: true, flags: ["--listen", listen, "--workers", "4", ...patience] });
}

const lease = () => `/apis/coordination.k8s.io/v1/namespaces/${stage.namespace}/leases`;
const names = (alerts: Alert[]) => [...new Set(alerts.map(({ labels }) => labels.alertname))].sort();
const firing = async () => names(await prometheus.firing());
const soon = { timeout: 90_000, interval: 250 };

describe("the alerts and dashboards that ship", { timeout: 180_000 }, () => {
  it("are quiet while all is well", async () => {
    for (const [name, platform] of Object.entries(platforms)) {
      await stage.apply(secret(name, platform.token), account(name, platform));
    }
    const objects = [home, brokerLan, kafkaCluster("stream"), datacenter("idle")];
    await stage.apply(...objects.map((object) => through("good", object)));
    for (const name of Object.keys(platforms)) await stage.untilReady("Account", name);
    for (const { kind, metadata } of objects) await stage.untilReady(kind, metadata.name);
    await expect.poll(() => prometheus.query('mooring_objects{kind="KafkaCluster",state="ready"}')).toHaveLength(1);
    await expect.poll(firing, soon).toEqual([]);
    expect(Object.keys(troubles).concat("MooringNoLeader").sort()).toEqual(
      shipped.rules.map(({ alert }) => alert).sort(),
    );
  });

  it("fire on what they are about, and name it", async () => {
    for (const { begin } of Object.values(troubles)) await begin({ stage, platforms });
    const stirred = async () => {
      // The backoff is not shortened, so an edit of the object triggers the next attempt.
      await annotate(stage, "IPBlock", "front", RECONCILE_AT);
      return firing();
    };
    await expect.poll(stirred, { ...soon, interval: 2000 }).toEqual(Object.keys(troubles).sort());
    const alerts = await prometheus.firing();
    for (const [alertname, { labels }] of Object.entries(troubles)) {
      const namespaced = "kind" in labels ? { namespace: stage.namespace } : {};
      const expected = expect.objectContaining({ alertname, ...labels, ...namespaced });
      expect(alerts.map((each) => each.labels)).toContainEqual(expected);
    }
    for (const { annotations } of alerts) expect(Object.values(annotations).join()).not.toMatch(/<no value>|%!|NaN/);
  });

  it("have a dashboard whose every query finds something, all of it Mooring's", async () => {
    const queries = shipped.dashboards.flatMap(({ title, panels }) =>
      panels.flatMap((each) =>
        each.targets.map((query) => ({ ...query, where: `${title}, ${each.title}: ${query.expr}` })),
      ),
    );
    for (const { expr, legendFormat, where } of queries) {
      const found = async () =>
        (await prometheus.query(expr)).filter(({ value }) => Number.isFinite(Number(value?.[1])));
      await expect.poll(found, { ...soon, message: where }).not.toEqual([]);
      for (const { metric, value } of await found()) {
        expect(Number(value?.[1]), where).toBeLessThan(1e12);
        for (const [, label = ""] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
          expect(metric, where).toHaveProperty(label);
      }
    }
  });

  it("have dashboards that a browser can draw", async () => {
    const browser = await openBrowser();
    try {
      for (const each of shipped.dashboards) {
        const page = await browser.newPage();
        await page.goto(pathToFileURL(join(import.meta.dirname, "panels.html")).href);
        await page.evaluate(`draw(${JSON.stringify(prometheus.url)}, ${JSON.stringify(each)})`);
        expect(await page.locator("strong").allTextContents()).toEqual([]);
        expect(await page.locator("figure:has(.series) figcaption").allTextContents()).toEqual(
          each.panels.map(({ title }) => title),
        );
        expect(await page.locator("path").count()).toBeGreaterThan(5);
      }
    } finally {
      await browser.close();
    }
  });

  it("resolve when it is over, whatever other operators do", async () => {
    // A new key counts as old after a few seconds here, so that alert comes last.
    const { MooringKeyOld: oldKey, ...others } = troubles;
    for (const { end } of Object.values(others)) await end({ stage, platforms });
    await expect.poll(firing, soon).toEqual(["MooringKeyOld"]);
    await oldKey?.end({ stage, platforms });
    await expect.poll(firing, soon).toEqual([]);
  });

  it("fire while there is no leader, also when an operator waits for a Lease that somebody else holds", async () => {
    const leaderless = async () =>
      (await prometheus.firing())
        .filter(({ labels }) => labels.alertname === "MooringNoLeader")
        .map((each) => each.labels);
    await operator.stop();
    await expect.poll(leaderless, soon).toEqual([expect.not.objectContaining({ namespace: expect.anything() })]);
    const spec = { holderIdentity: "somebody-else", leaseDurationSeconds: 3600 };
    const path = `${lease()}/mooring`;
    const contentType = "application/merge-patch+json";
    await stage.admin.request({ method: "PATCH", path, contentType, body: { spec } });
    operator = await startOperator();
    await expect.poll(() => operator.log(), soon).toContain("standing by");
    await expect.poll(leaderless, soon).toEqual([expect.objectContaining({ namespace: "mooring-system" })]);
    await stage.admin.request({ method: "DELETE", path });
    await expect.poll(leaderless, soon).toEqual([]);
  });
});
