import { readFileSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { createGatewayMetrics } from "../../../src/gateway/metrics.ts";
import { openServer } from "../../../src/server/open-server.ts";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import { root } from "../../processes.ts";
import { startPrometheus } from "./prometheus.ts";

// A real Prometheus reads the gateway's own metrics, and sample metrics of kube-state-metrics and the kubelet about the
// pods of the tools. Only times of minutes are shortened.

const folder = temporaryFolder("gateway-alerts");
const files = join(root, "deploy/chart/files");
const rules = z.object({
  groups: z.array(
    z.object({ name: z.string(), rules: z.array(z.looseObject({ alert: z.string(), expr: z.string() })) }),
  ),
});
const dashboard = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })) })),
});

const shorter = (expr: string) => expr.replaceAll(/\[\d+[mhd]\]/g, "[20s]");

function shortenedRules(): string {
  const groups = ["alerts-gateway", "alerts-tools"].flatMap(
    (name) => rules.parse(parse(readFileSync(join(files, `${name}.yaml`), "utf8"))).groups,
  );
  const all = groups.map((group) => ({
    ...group,
    rules: group.rules.map((rule) => ({ ...rule, expr: shorter(rule.expr), for: "1s" })),
  }));
  return stringify({ groups: all });
}

/** Metrics of a cluster about the pods of the tools. No pod is available. */
const podsOfTools = (scrapes: number) => `kube_deployment_status_replicas_available{deployment="mooring-tools"} 0
kube_pod_container_status_restarts_total{container="tools",pod="mooring-tools-1"} ${scrapes}
container_cpu_usage_seconds_total{container="tools",pod="mooring-tools-1"} ${scrapes}
container_memory_working_set_bytes{container="tools",pod="mooring-tools-1"} 1
`;

let gateway: Awaited<ReturnType<typeof openServer>>;
let cluster: Awaited<ReturnType<typeof openServer>>;
let prometheus: Awaited<ReturnType<typeof startPrometheus>>;

beforeAll(async () => {
  const metrics = createGatewayMetrics();
  metrics.watch({ waiting: () => 3, open: () => 2 });
  const anywhere = { host: "127.0.0.1", port: 0 };
  const answer: RequestListener = async (_, response) => {
    // A namespace that is refused, and a failing platform.
    metrics.served("shop", "model", 429);
    metrics.used("shop", "model", { input: 10, output: 20 }, 0.1);
    metrics.upstream(503, 1);
    metrics.waited(1);
    response.setHeader("content-type", metrics.contentType);
    for await (const text of metrics.scrape()) response.write(text);
    response.end();
  };
  let scrapes = 0;
  const answerOfCluster: RequestListener = (_, response) => {
    response.setHeader("content-type", "text/plain; version=0.0.4");
    response.end(podsOfTools(++scrapes));
  };
  gateway = await openServer(anywhere, answer, undefined);
  cluster = await openServer(anywhere, answerOfCluster, undefined);
  const file = join(folder.path, "rules.yaml");
  writeFileSync(file, shortenedRules());
  const job = (job_name: string, { url }: { url: string }) => ({
    job_name,
    honor_labels: true,
    static_configs: [{ targets: [new URL(url).host] }],
  });
  const config = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: [file],
    scrape_configs: [job("gateway", gateway), job("cluster", cluster)],
  };
  prometheus = await startPrometheus(folder.path, "go", stringify(config));
}, 600_000);
afterAll(async () => {
  await prometheus.stop();
  gateway.server.close();
  cluster.server.close();
  folder.remove();
});

const firing = async () => (await prometheus.firing()).map(({ labels }) => labels.alertname);
const patiently = { timeout: 120_000, interval: 500 };

describe("the gateway and the tools", { timeout: 300_000 }, () => {
  it("have alerts that fire while something is wrong", async () => {
    await expect
      .poll(firing, patiently)
      .toEqual(expect.arrayContaining(["MooringGatewayErrors", "MooringGatewayRefuses", "MooringToolsDown"]));
    expect(await firing()).not.toContain("MooringGatewayDown");
  });

  it.each(["mooring-gateway", "mooring-tools"])("have a dashboard whose every query has data: %s", async (name) => {
    const { panels } = dashboard.parse(JSON.parse(readFileSync(join(files, `dashboards/${name}.json`), "utf8")));
    expect(panels.length).toBeGreaterThan(3);
    for (const { title, targets } of panels) {
      for (const { expr } of targets) {
        const found = async () => (await prometheus.query(shorter(expr))).length;
        await expect.poll(found, { ...patiently, message: `${title}: ${expr}` }).toBeGreaterThan(0);
      }
    }
  });

  it("have an alert for a gateway that is gone", async () => {
    gateway.server.closeAllConnections();
    gateway.server.close();
    await expect.poll(firing, patiently).toContain("MooringGatewayDown");
  });
});
