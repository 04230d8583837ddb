import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { z } from "zod";
import { freePort } from "../../../src/cli/control-plane/probe.ts";
import { startCluster } from "../../../src/cli/control-plane/start.ts";
import { applyObject } from "../../../src/cli/demo/install.ts";
import { RECONCILE_AT, ROTATE_AT, SHARD } from "../../../src/engine/state/names.ts";
import { pathOf } from "../../../src/kube/resource.ts";
import { SECRETS } from "../../../src/kube/write/owned-secret.ts";
import { SIGNING_KEY } from "../../../src/operator/signing-key.ts";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import type { OperatorProcess } from "../../cluster/chaos/operator.ts";
import { type Platform, startPlatform } from "../../cluster/chaos/platform.ts";
import { openStage, type Stage } from "../../cluster/chaos/stage.ts";
import { until } from "../../cluster/chaos/wait.ts";
import { datacenter, ipBlock, kafkaCluster, lan, logPipeline, metricPipeline } from "../../cluster/objects.ts";
import { root, run } from "../../processes.ts";
import { accountSpec, brokerLan, home, inStream, type Manifest, manifest } from "../../subjects/surroundings.ts";
import { openBrowser } from "../browser.ts";
import { type Alert, startPrometheus } from "./prometheus.ts";

// A real Prometheus scrapes a running operator. The test causes the condition of every alert. Only times of hours are
// shortened.

const cleanup = new AsyncDisposableStack();
let shipped: Awaited<ReturnType<typeof monitoring>>;
let prometheus: Awaited<ReturnType<typeof startPrometheus>>;
let stage: Stage;
let operator: OperatorProcess;
let listen: string;
/** `good` has no faults. Each of the others is the endpoint of the Account of the same name. */
const platforms = {} as Record<"good" | "failing" | "throttling" | "hanging", Platform>;

const endpoint = z.object({ port: z.string(), honorLabels: z.boolean().default(false) });
const rule = z.object({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.object({ severity: z.enum(["info", "warning", "critical"]) }),
  annotations: z.object({ summary: z.string(), description: z.string(), runbook_url: z.string() }),
});
const panel = z.looseObject({
  title: z.string(),
  targets: z.array(z.looseObject({ expr: z.string(), legendFormat: z.string() })).min(1),
});
const dashboard = z.looseObject({ title: z.string(), panels: z.array(panel).min(1) });
const document = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ServiceMonitor"), spec: z.object({ endpoints: z.tuple([endpoint]) }) }),
  z.object({
    kind: z.literal("PrometheusRule"),
    spec: z.object({ groups: z.tuple([z.object({ name: z.string(), rules: z.array(rule).min(1) })]) }),
  }),
  z.object({ kind: z.literal("ConfigMap"), data: z.record(z.string(), z.string()) }),
]);

/** The ServiceMonitor, alerts and dashboards of the chart. */
async function monitoring() {
  const helm = (await run(join(root, "test/clients/setup-helm"), ["helm"])).stdout.trim();
  const values = ["serviceMonitor", "rules", "dashboards"]
    .map((part) => `metrics.${part}.create=true`)
    .concat("platform=ionos")
    .join(",");
  const chart = ["template", "mooring", join(root, "deploy/chart"), "--set", values];
  const { stdout, stderr } = await run(helm, [...chart, "--show-only", "templates/monitoring.yaml"]);
  const documents = parseAllDocuments(stdout).map((each) => document.parse(each.toJS(), { error: () => stderr }));
  return {
    scrape: documents.flatMap((each) => (each.kind === "ServiceMonitor" ? each.spec.endpoints : []))[0],
    rules: documents.flatMap((each) => (each.kind === "PrometheusRule" ? each.spec.groups[0].rules : [])),
    dashboards: documents.flatMap((each) =>
      each.kind === "ConfigMap" ? Object.values(each.data).map((text) => dashboard.parse(JSON.parse(text))) : [],
    ),
  };
}

/** Shortened times. The certificates of the simulator are valid for a year. */
const thresholds: Record<string, [shipped: string, here: string]> = {
  MooringCertificateExpires: ["86400", "366 * 86400"],
  MooringKeyOld: ["365 * 86400", "20"],
  MooringQueueOld: ["> 60", "> 2"],
};
const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };
const shorter = (duration: string, divisor: number) =>
  `${Math.round((1000 * Number.parseFloat(duration) * (UNITS[duration.at(-1) ?? ""] ?? Number.NaN)) / divisor)}ms`;

function shortened({ alert, expr, for: patience, ...rest }: z.output<typeof rule>) {
  const [before, after] = thresholds[alert] ?? ["", ""];
  expect(expr).toContain(before);
  return {
    alert,
    expr: expr.replace(before, after).replaceAll(/(?<=\[)\d+[smhd](?=\])/g, (range) => shorter(range, 30)),
    ...(patience !== undefined && { for: shorter(patience, 100) }),
    ...rest,
  };
}

/** Another operator that the same Prometheus scrapes, built with controller-runtime and failing. */
async function stranger(): Promise<string> {
  let scrapes = 0;
  const server = createServer((_, response) => {
    scrapes += 1;
    const much = 1e15 * scrapes;
    response.setHeader("content-type", "text/plain; version=0.0.4");
    response.end(`leader_election_master_status{name="widgets"} 1
controller_runtime_reconcile_total{controller="widget",result="error"} ${much}
controller_runtime_reconcile_errors_total{controller="widget"} ${much}
controller_runtime_reconcile_time_seconds_bucket{controller="widget",le="+Inf"} ${much}
controller_runtime_max_concurrent_reconciles{controller="widget"} ${much}
controller_runtime_active_workers{controller="widget"} ${much}
workqueue_depth{name="widget"} ${much}
workqueue_oldest_seconds{name="widget"} ${much}
workqueue_longest_running_processor_seconds{name="widget"} ${much}
rest_client_requests_total{code="200",method="GET",host="widgets"} ${much}
process_cpu_seconds_total ${much}
process_resident_memory_bytes ${much}
nodejs_eventloop_lag_p99_seconds ${much}
`);
  }).listen(await freePort(), "127.0.0.1");
  cleanup.defer(async () => void server.close());
  const address = z.object({ port: z.number() });
  await new Promise((resolve) => server.once("listening", resolve));
  return `127.0.0.1:${address.parse(server.address()).port}`;
}

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

  shipped = await monitoring();
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
      { job_name: "widgets", static_configs: [target(await stranger(), "widgets")] },
    ],
  });
  prometheus = await startPrometheus(folder.path, "go", config);
}, 180_000);
afterAll(() => cleanup.disposeAsync());

function startOperator(): Promise<OperatorProcess> {
  const patience = ["--create-deadline", "20s", "--resync", "1s", "--retry", "1s"];
  return stage.operator({ everywhere: true, flags: ["--listen", listen, "--workers", "4", ...patience] });
}

const secret = (name: string, token: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  stringData: { token },
});
const account = (name: string, { url: api }: Platform) =>
  manifest("Account", name, { ...accountSpec({ api, nth: 0 }), credentialsSecretRef: { name } });
/** An object that uses this Account. */
const through = (name: string, object: Manifest) => ({
  ...object,
  spec: { ...object.spec, accountRef: { name } },
});

/** A token of the platform that is valid for this many days. */
async function tokenFor(days: number): Promise<string> {
  const answer = await platforms.good.steering.call("GET", `/auth/v1/tokens/generate?ttl=${days * 86_400}`);
  return z.object({ token: z.string() }).parse(answer).token;
}

/** Grants or revokes the operator's right to write the status of IPBlocks. */
async function statusOfIPBlocks(given: boolean): Promise<void> {
  const path = `/apis/rbac.authorization.k8s.io/v1/clusterroles/mooring-${stage.namespace}`;
  const right = "ipblocks/status";
  const role = z
    .looseObject({ rules: z.array(z.looseObject({ resources: z.array(z.string()) })) })
    .parse(await stage.admin.request({ method: "GET", path }));
  const rules = role.rules.map(({ resources, ...rest }) => {
    const others = resources.filter((each) => each !== right);
    return { ...rest, resources: given && others.includes("lans/status") ? [...others, right] : others };
  });
  await stage.admin.request({ method: "PUT", path, body: { ...role, rules } });
}

/** Assigns a namespace to a shard. */
const shardOf = (name: string, shard?: string) =>
  applyObject(stage.admin, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels: shard === undefined ? {} : { [SHARD]: shard } },
  });

const noSecrets = (refuses: boolean) => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicy",
  metadata: { name: "no-signing-key" },
  spec: {
    failurePolicy: "Fail",
    matchConstraints: {
      resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] }],
    },
    validations: [{ expression: refuses ? `!object.metadata.name.startsWith('${SIGNING_KEY}')` : "true" }],
  },
});
const binding = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingAdmissionPolicyBinding",
  metadata: { name: "no-signing-key" },
  spec: { policyName: "no-signing-key", validationActions: ["Deny"] },
};

/** The condition of each alert: how to cause it and how to end it. */
interface Trouble {
  begin(): Promise<void>;
  end(): Promise<void>;
  /** Labels of the alert besides its name. */
  labels: Record<string, unknown>;
}
const annotate = (kind: string, name: string, annotation: string) =>
  stage.patch(kind, name, { metadata: { annotations: { [annotation]: new Date().toISOString() } } });
const about = (kind: string, name: string) => ({ kind, name });
const troubles: Record<string, Trouble> = {
  MooringObjectStalled: {
    begin: () => stage.apply(through("good", datacenter("nowhere", { location: "de/xyz" }))),
    end: () => stage.remove("Datacenter", "nowhere"),
    labels: { kind: "Datacenter", reason: "Rejected" },
  },
  MooringObjectNotReady: {
    begin: () => stage.apply(through("good", lan("lost", { datacenterRef: { name: "missing" } }))),
    end: () => stage.apply(through("good", datacenter("missing"))),
    labels: about("Lan", "lost"),
  },
  MooringPlatformErrors: {
    async begin() {
      const broken = ["POST *", "GET /logging/{region}/pipelines"];
      await platforms.failing.steering.faults(...broken.map((route) => ({ fault: "status", status: 503, route })));
      await stage.apply(through("failing", logPipeline("logs")));
    },
    end: () => platforms.failing.steering.faults(),
    labels: { product: "logging" },
  },
  MooringPlatformThrottled: {
    async begin() {
      await platforms.throttling.steering.faults({ fault: "status", status: 429, retryAfter: 4 });
      await stage.apply(through("throttling", datacenter("slow")));
    },
    end: () => platforms.throttling.steering.faults(),
    labels: {},
  },
  MooringTokenExpires: {
    begin: async () => stage.apply(secret("short", await tokenFor(7)), account("short", platforms.good)),
    end: async () => stage.apply(secret("short", await tokenFor(365))),
    labels: about("Account", "short"),
  },
  MooringCertificateExpires: {
    begin: () => stage.apply(through("good", manifest("KafkaUser", "admin", inStream))),
    async end() {
      // The platform issues the next certificate after half of the lifetime; the operator asks for it after two thirds.
      await platforms.good.steering.call("POST", "/_simulator/advance", { seconds: 300 * 86_400 });
      await annotate("KafkaUser", "admin", RECONCILE_AT);
    },
    labels: about("KafkaUser", "admin"),
  },
  MooringKeyOld: {
    begin: () => stage.apply(through("good", metricPipeline("web"))),
    async end() {
      await annotate("MetricPipeline", "web", ROTATE_AT);
      await annotate("LogPipeline", "logs", ROTATE_AT);
    },
    labels: about("MetricPipeline", "web"),
  },
  MooringShardNotRunning: {
    begin: () => shardOf("apart", "nobody"),
    end: () => shardOf("apart"),
    labels: { shard: "nobody" },
  },
  MooringSigningKeyMissing: {
    async begin() {
      await applyObject(stage.admin, noSecrets(true));
      const body = { apiVersion: "v1", kind: "Secret", metadata: { name: `${SIGNING_KEY}-tried` } };
      const call = { method: "POST", path: pathOf(SECRETS, { namespace: stage.namespace }), body } as const;
      const isRefused = async () => {
        const refusal = await stage.admin.request({ ...call, query: { dryRun: "All" } }).catch((error: Error) => error);
        return refusal instanceof Error ? undefined : "a new key is not refused yet";
      };
      await applyObject(stage.admin, binding);
      await until(isRefused, { title: "the policy" });
      await stage.admin.request({ method: "DELETE", path: `${call.path}/${SIGNING_KEY}` });
    },
    end: () => applyObject(stage.admin, noSecrets(false)),
    labels: {},
  },
  MooringReconcileErrors: {
    async begin() {
      await statusOfIPBlocks(false);
      await stage.apply(through("good", ipBlock("front")));
    },
    async end() {
      await statusOfIPBlocks(true);
      await annotate("IPBlock", "front", RECONCILE_AT);
    },
    labels: { controller: "ipblock" },
  },
  MooringQueueOld: {
    async begin() {
      await platforms.hanging.steering.faults({ fault: "hang", seconds: 15, route: "POST *" });
      await stage.apply(...Array.from("abcdefgh", (name) => through("hanging", datacenter(name))));
    },
    end: () => platforms.hanging.steering.faults(),
    labels: {},
  },
};

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
    for (const { begin } of Object.values(troubles)) await begin();
    const stirred = async () => {
      // The backoff is not shortened, so an edit of the object triggers the next attempt.
      await annotate("IPBlock", "front", RECONCILE_AT);
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
    for (const { end } of Object.values(others)) await end();
    await expect.poll(firing, soon).toEqual(["MooringKeyOld"]);
    await oldKey?.end();
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
