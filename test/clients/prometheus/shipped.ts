import { expect } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { run } from "../../processes.ts";
import { chart, programPath } from "../chart/chart.ts";

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
export async function shippedMonitoring() {
  const helm = await programPath("helm");
  const values = ["serviceMonitor", "rules", "dashboards"]
    .map((part) => `metrics.${part}.create=true`)
    .concat("platform=ionos", "docsUrl=https://docs.example.com")
    .join(",");
  const { stdout, stderr } = await run(helm, [
    ...["template", "mooring", chart, "--set", values],
    ...["--show-only", "templates/monitoring.yaml"],
  ]);
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

/** A rule with shortened times. */
export function shortened({ alert, expr, for: patience, ...rest }: z.output<typeof rule>) {
  const [before, after] = thresholds[alert] ?? ["", ""];
  expect(expr).toContain(before);
  return {
    alert,
    expr: expr.replace(before, after).replaceAll(/(?<=\[)\d+[smhd](?=\])/g, (range) => shorter(range, 30)),
    ...(patience !== undefined && { for: shorter(patience, 100) }),
    ...rest,
  };
}
