import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { metricPipeline } from "../../../src/kinds/observability/metric-pipeline.ts";
import { serviceFor } from "../../simulator/pipelines.ts";
import { type Platform, startPlatform } from "../../simulator/platform.ts";
import { give, startPrometheus } from "./prometheus.ts";

/** The first push follows the first scrape. */
const patience = { timeout: 2 * 60_000 };

let platform: Platform;
let folder: string;
/** The content of the Secret of a MetricPipeline. */
let secret: Record<string, unknown>;
let pipeline: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "mooring-prometheus-"));
  platform = await startPlatform();
  const { call, made } = serviceFor(platform, "monitoring");
  const { id, key, path } = await made();
  pipeline = id;
  const publication = metricPipeline.resource?.desire({}).publication({ name: "web" });
  secret = { ...publication?.data((await call("GET", path)).body, key, () => "") };
});
const running: Awaited<ReturnType<typeof startPrometheus>>[] = [];
afterAll(async () => {
  await Promise.all(running.map((each) => each.stop()));
  await platform.close();
  await rm(folder, { recursive: true });
});

const file = () => z.string().parse(secret["prometheus.yaml"]);

const arrived = z.object({ items: z.array(z.unknown()) });
const received = async (name: string) =>
  arrived.parse(await platform.steer("GET", `samples?pipeline=${pipeline}&name=${name}`)).items;

describe("a Prometheus that nobody here wrote", patience, () => {
  // Debian's Prometheus (2.42) accepts `headers` of remote_write but does not send them.
  it.each([
    ["built from Go modules", "go" as const],
    ["of Debian", "debian" as const],
  ])("%s (%s) pushes with the file of the Secret as it is, and the samples are read back equal", async (_, which) => {
    // From here on, it forwards every sample.
    const prometheus = await startPrometheus(folder, which, file(), ["--web.enable-remote-write-receiver"]);
    running.push(prometheus);
    const now = Date.now();
    const samples = [21.5, -0.25, 1e300].map((value, index): [number, number] => [value, now + index]);
    const name = `temperature_${which}`;
    await give(prometheus.url, {
      labels: [
        ["__name__", name],
        ["room", "küche"],
      ],
      samples,
    });
    await expect
      .poll(() => received(name))
      .toEqual([
        {
          labels: { __name__: name, room: "küche" },
          samples: samples.map(([value, timestamp]) => ({ value, timestamp })),
        },
      ]);
  });
});
