import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { compress } from "snappyjs";
import { expect } from "vitest";
import { z } from "zod";
import { freePort } from "../../../src/cli/control-plane/probe.ts";
import { until } from "../../cluster/chaos/wait.ts";
import { run, start } from "../../processes.ts";
import { type SentSeries, writeRequest } from "../../simulator/remote-write.ts";

const answered = z.object({ status: z.literal("success"), data: z.unknown() });
const series = z.object({
  result: z.array(
    z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]).optional() }),
  ),
});
const alert = z.object({
  labels: z.looseObject({ alertname: z.string() }),
  annotations: z.record(z.string(), z.string()),
  state: z.enum(["pending", "firing"]),
});

export type Alert = z.output<typeof alert>;

/** Starts a Prometheus with this configuration, in a new folder below `folder`. It ends with the test file. */
export async function startPrometheus(folder: string, which: "go" | "debian", config: string, flags: string[] = []) {
  const { stdout } = await run(join(import.meta.dirname, "../setup-prometheus"), [which]);
  const home = await mkdtemp(join(folder, `${which}-`));
  const address = `127.0.0.1:${await freePort()}`;
  // A Prometheus that scrapes itself usually has this port.
  await writeFile(join(home, "prometheus.yaml"), config.replaceAll("localhost:9090", address));
  const options = {
    "config.file": join(home, "prometheus.yaml"),
    "storage.tsdb.path": home,
    "web.listen-address": address,
  };
  const own = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const process = start(stdout.trim(), [...own, ...flags]);
  const url = `http://${address}`;
  const missing = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => (ok ? undefined : process.output()),
      () => process.output(),
    );
  await until(missing, { title: "Prometheus" });

  const ask = async (path: string) => answered.parse(await (await fetch(`${url}/api/v1/${path}`)).json()).data;
  return {
    url,
    stop: process.stop,
    /** The current result of a query. */
    query: async (expr: string) => series.parse(await ask(`query?query=${encodeURIComponent(expr)}`)).result,
    /** Without pending alerts. */
    firing: async () =>
      z
        .object({ alerts: z.array(alert) })
        .parse(await ask("alerts"))
        .alerts.filter(({ state }) => state === "firing"),
  };
}

/** Writes samples into a Prometheus that receives them. */
export async function give(url: string, ...series: SentSeries[]): Promise<void> {
  const headers = {
    "content-type": "application/x-protobuf",
    "content-encoding": "snappy",
    "x-prometheus-remote-write-version": "0.1.0",
  };
  const body = new Uint8Array(compress(writeRequest(...series)));
  const { status } = await fetch(`${url}/api/v1/write`, { method: "POST", headers, body });
  expect(status).toBe(204);
}
