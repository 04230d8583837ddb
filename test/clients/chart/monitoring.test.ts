import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { reasons } from "../../../src/engine/status/reasons.ts";
import { root } from "../../processes.ts";
import { both, deployment, findHelm, rendered } from "./chart.ts";

beforeAll(findHelm, 300_000);

describe("the metrics of the gateway of the chart", () => {
  const gatewayIn = async (...values: string[]) => {
    const all = await rendered(...both, ...values);
    return deployment.parse(all.get("Deployment/mooring-gateway")).spec.template.spec.containers[0];
  };

  it("need authorization by default, as the operator's do", async () => {
    const { args, readinessProbe } = await gatewayIn();
    expect(args).toContain("--metrics-auth");
    expect(readinessProbe.httpGet.scheme).toBe("HTTPS");
  });

  it("are open where somebody says so", async () => {
    const { args, readinessProbe } = await gatewayIn("metrics.auth=false");
    expect(args).not.toContain("--metrics-auth");
    expect(readinessProbe.httpGet.scheme).toBe("HTTP");
  });
});

describe("the monitoring of the chart", () => {
  const rule = z.object({
    alert: z.string(),
    annotations: z.object({ summary: z.string(), description: z.string(), runbook_url: z.string() }),
  });
  const rules = z.looseObject({
    spec: z.object({ groups: z.array(z.object({ name: z.string(), rules: z.array(rule).min(1) })) }),
  });
  const on = ["metrics.rules.create=true", "metrics.dashboards.create=true", "metrics.serviceMonitor.create=true"];

  it("has a page for every alert", async () => {
    const all = await rendered(...both, ...on, 'docsUrl="https://docs.example.com/"');
    const { groups } = rules.parse(all.get("PrometheusRule/mooring")).spec;
    expect(groups.map(({ name }) => name)).toEqual(["mooring", "mooring-gateway", "mooring-tools"]);
    const page = readFileSync(join(root, "docs/troubleshooting.md"), "utf8");
    for (const { alert, annotations } of groups.flatMap((group) => group.rules)) {
      const { runbook_url } = annotations;
      if (runbook_url.startsWith("https://docs.example.com/reference/reasons.html")) continue;
      expect(runbook_url).toBe(`https://docs.example.com/troubleshooting.html#${alert.toLowerCase()}`);
      expect(page).toContain(`### ${alert}\n`);
    }
  });

  it("names no page in its alerts unless docsUrl says where the pages are", async () => {
    const alerts = JSON.stringify((await rendered(...both, ...on)).get("PrometheusRule/mooring"));
    expect(alerts).toContain("MooringToolsDown");
    expect(alerts).not.toMatch(/runbook_url|mooring\.dev\/docs/);
  });

  it("has dashboards and a way to the metrics of the gateway, where it runs", async () => {
    const dashboards = (all: Map<string, unknown>) => [...all.keys()].filter((key) => key.startsWith("ConfigMap/"));
    expect(dashboards(await rendered(...on))).toEqual(["ConfigMap/mooring-fleet", "ConfigMap/mooring-controller"]);
    const all = await rendered(...both, ...on, 'metrics.serviceMonitor.relabelings=[{"action":"keep"}]');
    expect(dashboards(all)).toEqual(expect.arrayContaining(["ConfigMap/mooring-gateway", "ConfigMap/mooring-tools"]));
    expect(all.get("Service/mooring-gateway-metrics")).toMatchObject({ spec: { ports: [{ name: "metrics" }] } });
    expect(all.get("ServiceMonitor/mooring")).toMatchObject({
      spec: { endpoints: [{ port: "metrics", relabelings: [{ action: "keep" }] }] },
    });
    const kept = { relabelings: [{ action: "keep" }], metricRelabelings: [{ action: "drop" }] };
    const podMonitor = { create: true, bearerTokenSecret: { name: "reader", key: "token" }, ...kept };
    const pods = await rendered(...both, `metrics.podMonitor=${JSON.stringify(podMonitor)}`);
    expect(pods.get("PodMonitor/mooring")).toMatchObject({
      spec: {
        selector: { matchExpressions: [{ values: ["operator", "shard", "gateway"] }] },
        podMetricsEndpoints: [
          {
            port: "metrics",
            scheme: "https",
            bearerTokenSecret: { name: "reader" },
            relabelings: kept.relabelings,
            metricRelabelings: kept.metricRelabelings,
          },
        ],
      },
    });
  });

  it("leads from the alert on stalled objects to the reason that the alert names", async () => {
    const all = await rendered(...on, 'docsUrl="https://docs.example.com"');
    const { groups } = rules.parse(all.get("PrometheusRule/mooring")).spec;
    const stalled = groups.flatMap((group) => group.rules).find(({ alert }) => alert === "MooringObjectStalled");
    expect(stalled?.annotations.runbook_url).toBe(
      "https://docs.example.com/reference/reasons.html#{{ $labels.reason | toLower }}",
    );
    const page = readFileSync(join(root, "docs/reference/reasons.md"), "utf8");
    expect(Object.keys(reasons).filter((reason) => !page.includes(`# ${reason}\n`))).toEqual([]);
  });
});
