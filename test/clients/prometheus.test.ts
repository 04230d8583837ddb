import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { compress } from "snappyjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { metricPipeline } from "../../src/kinds/observability/metric-pipeline.ts";
import { type Running, start } from "../processes.ts";
import { serviceFor } from "../simulator/pipelines.ts";
import { type Platform, startPlatform } from "../simulator/platform.ts";
import { type SentSeries, writeRequest } from "../simulator/remote-write.ts";

/** The first push comes with the first scrape. */
const patience = { timeout: 2 * 60_000 };
const setup = join(import.meta.dirname, "setup-prometheus");
const execute = promisify(execFile);

let platform: Platform;
let folder: string;
/** What is in the Secret of a MetricPipeline. */
let secret: Record<string, unknown>;
let pipeline: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "mooring-prometheus-"));
  platform = await startPlatform();
  const { call, made } = serviceFor(platform, "monitoring");
  const { id, key, path } = await made();
  pipeline = id;
  const publication = metricPipeline.resource?.desire({}).publication({ name: "web" });
  secret = { ...publication?.data((await call("GET", path)).body, key) };
});
const running: Running[] = [];
afterAll(async () => {
  await Promise.all(running.map((each) => each.stop()));
  await platform.close();
  await rm(folder, { recursive: true });
});

const file = () => z.string().parse(secret["prometheus.yaml"]);

/** The same, for who cannot send a header of his own. */
function withBearer(): string {
  const written = z.looseObject({ url: z.string(), headers: z.object({ APIKEY: z.string() }) });
  const config = z.looseObject({ remote_write: z.tuple([written]) }).parse(parse(file()));
  const { headers, ...rest } = config.remote_write[0];
  return stringify({ ...config, remote_write: [{ ...rest, authorization: { credentials: headers.APIKEY } }] });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Starts a Prometheus with this file; what it is given from now on it passes on. */
async function run(which: string, config: string): Promise<string> {
  const { stdout } = await execute(setup, [which]);
  const home = await mkdtemp(join(folder, `${which}-`));
  await writeFile(join(home, "prometheus.yaml"), config);
  const address = `127.0.0.1:${await freePort()}`;
  const options = {
    "config.file": join(home, "prometheus.yaml"),
    "storage.tsdb.path": home,
    "web.listen-address": address,
  };
  const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  running.push(start(stdout.trim(), [...flags, "--web.enable-remote-write-receiver"]));
  const ready = () =>
    fetch(`http://${address}/-/ready`).then(
      ({ status }) => status,
      () => 0,
    );
  await expect.poll(ready).toBe(200);
  return address;
}

async function give(address: string, ...series: SentSeries[]): Promise<void> {
  const headers = {
    "content-type": "application/x-protobuf",
    "content-encoding": "snappy",
    "x-prometheus-remote-write-version": "0.1.0",
  };
  const body = new Uint8Array(compress(writeRequest(...series)));
  const { status } = await fetch(`http://${address}/api/v1/write`, { method: "POST", headers, body });
  expect(status).toBe(204);
}

const arrived = z.object({ items: z.array(z.unknown()) });
const received = async (name: string) =>
  arrived.parse(await platform.steer("GET", `samples?pipeline=${pipeline}&name=${name}`)).items;

describe("a Prometheus that nobody here wrote", patience, () => {
  it.each([
    ["built from Go modules", "go", "with the file of the Secret as it is", file],
    ["of Debian", "debian", "with the key as bearer token", withBearer],
  ])("%s (%s) pushes %s, and the samples are read back equal", async (_, which, __, config) => {
    const address = await run(which, config());
    const now = Date.now();
    const samples = [21.5, -0.25, 1e300].map((value, index): [number, number] => [value, now + index]);
    const name = `temperature_${which}`;
    await give(address, {
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
