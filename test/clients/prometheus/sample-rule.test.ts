import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { metricPipeline } from "../../../src/kinds/observability/metric-pipeline.ts";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import { readPage } from "../../docs/blocks.ts";
import { root } from "../../processes.ts";
import { serviceFor } from "../../simulator/pipelines.ts";
import { type Platform, startPlatform } from "../../simulator/platform.ts";
import { give, startPrometheus } from "./prometheus.ts";

// A real Prometheus, with the file of a MetricPipeline's Secret, loads the PrometheusRule of the guide. Only the intervals
// are shortened.

const sample = z.object({
  apiVersion: z.literal("monitoring.coreos.com/v1"),
  kind: z.literal("PrometheusRule"),
  spec: z.object({
    groups: z.array(z.object({ name: z.string(), rules: z.array(z.looseObject({ alert: z.string() })) })),
  }),
});
const fileOfSecret = z.looseObject({ global: z.looseObject({ scrape_interval: z.string() }) });
const arrived = z.object({ items: z.array(z.looseObject({ labels: z.record(z.string(), z.string()) })) });

const folder = temporaryFolder("sample-rule");
const patience = { timeout: 2 * 60_000 };
let platform: Platform;
let prometheus: Awaited<ReturnType<typeof startPrometheus>>;
let monitoring: ReturnType<typeof serviceFor>;
let pipeline: Awaited<ReturnType<typeof monitoring.made>>;

beforeAll(async () => {
  const guide = readPage(readFileSync(join(root, "docs/guides/metrics.md"), "utf8"));
  const text = guide.files.find(({ name }) => name === "queue-rule.yaml")?.text ?? "";
  const groups = sample
    .parse(parse(text))
    .spec.groups.map((group) => ({ ...group, rules: group.rules.map((rule) => ({ ...rule, for: "1s" })) }));
  const rules = join(folder.path, "rules.yaml");
  writeFileSync(rules, stringify({ groups }));

  platform = await startPlatform();
  monitoring = serviceFor(platform, "monitoring");
  pipeline = await monitoring.made();
  const { body } = await monitoring.call("GET", pipeline.path);
  const files = metricPipeline.resource
    ?.desire({})
    .publication({ name: "web" })
    ?.data(body, pipeline.key, () => "");
  const config = fileOfSecret.parse(parse(z.string().parse(files?.["prometheus.yaml"])));
  const often = { scrape_interval: "1s", evaluation_interval: "1s" };
  const whole = stringify({ ...config, global: often, rule_files: [rules] });
  prometheus = await startPrometheus(folder.path, "debian", whole, ["--web.enable-remote-write-receiver"]);
}, patience.timeout);
afterAll(async () => {
  await prometheus?.stop();
  await platform?.close();
  await folder.remove();
});

const queues = (...lengths: [shop: string, length: number][]) =>
  give(
    prometheus.url,
    ...lengths.map(([shop, length]) => ({
      labels: [["__name__", "queue_length"] as [string, string], ["shop", shop] as [string, string]],
      samples: [[length, Date.now()] as [number, number]],
    })),
  );
const firing = async () =>
  (await prometheus.firing()).map(({ labels, annotations }) => [labels.alertname, annotations.summary]);

it("the sample rule fires on a pushed metric above its threshold, and on no other", patience, async () => {
  await queues(["north", 150], ["south", 50]);
  await expect.poll(firing).toEqual([["QueueTooLong", "north has 150 orders in its queue"]]);
  // The metric is pushed as well.
  const pushed = async () =>
    arrived
      .parse(await platform.steer("GET", `samples?pipeline=${pipeline.id}&name=queue_length`))
      .items.map(({ labels }) => labels.shop)
      .sort();
  await expect.poll(pushed).toEqual(["north", "south"]);
  await queues(["north", 20]);
  await expect.poll(firing).toEqual([]);
});

it("the second rule fires when the pipeline has a new key", patience, async () => {
  await monitoring.call("POST", `${pipeline.path}/key`, {});
  const summary = "the MetricPipeline does not take samples: check its key and its state";
  await expect.poll(firing).toEqual([["MetricsNotPushed", summary]]);
});
