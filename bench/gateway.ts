import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { json, text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Agent, request } from "undici";
import { stringify } from "yaml";
import { z } from "zod";
import { spawnGuarded } from "../src/cli/control-plane/guarded.ts";

/**
 * The inference gateway as its own process before the simulator: the time that it adds to a call, its memory over many
 * streams, and what a single call waits behind a hundred of another namespace. Ratios are of one run.
 */
const { values } = parseArgs({
  options: { calls: { type: "string", default: "1000" }, streams: { type: "string", default: "10000" } },
});
const [calls, streams] = [Number(values.calls), Number(values.streams)];
const mooring = fileURLToPath(new URL("../bin/mooring", import.meta.url));
const model = "openai/gpt-oss-120b";
const folder = mkdtempSync(join(tmpdir(), "mooring-bench-"));
const file = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

/** Takes every token for that of a ServiceAccount in the namespace of the same name. */
const reviews = createServer(async (incoming, response) => {
  const { token, audiences } = Object(await json(incoming)).spec;
  const user = { username: `system:serviceaccount:${token}:default` };
  response.end(JSON.stringify({ status: { authenticated: true, audiences, user } }));
});
reviews.listen(0, "127.0.0.1");
await once(reviews, "listening");

/** Without a limit, V8 collects garbage when it likes, and what a process needs cannot be told from what it has got. */
const OLD_SPACE_MB = 96;
const running: ReturnType<typeof spawnGuarded>[] = [];
async function started<T>(shape: z.ZodType<T>, args: string[], nodeOptions = ""): Promise<T> {
  const env = { ...process.env, NODE_OPTIONS: nodeOptions };
  const child = spawnGuarded(mooring, args, { cwd: process.cwd(), env, output: "pipe" });
  running.push(child);
  if (child.stdout === null) throw new Error(`${args[0]} has no output`);
  for await (const line of createInterface({ input: child.stdout })) return shape.parse(JSON.parse(line));
  throw new Error(`${args[0]} did not start`);
}

const agent = new Agent({ connections: 200 });
const body = (more: object) =>
  JSON.stringify({
    model,
    max_completion_tokens: 40,
    messages: [{ role: "user", content: "How deep is it?" }],
    ...more,
  });

async function chat(base: string, token: string, more: object = {}, signal?: AbortSignal): Promise<number> {
  const begun = performance.now();
  const answer = await request(`${base}/v1/chat/completions`, {
    method: "POST",
    body: body(more),
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    dispatcher: agent,
    ...(signal && { signal }),
  });
  const said = await text(answer.body);
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${said}`);
  return performance.now() - begun;
}

/** An empty proxy in Node takes 1.7 times as long as a direct call. */
const NO_TIME_GOAL = 1.8;

const percentile = (times: number[], part: number) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? 0;

try {
  const simulator = await started(
    z.object({ token: z.string(), endpoints: z.object({ api: z.string(), inference: z.string() }) }),
    ["simulator", "--json", "--kafka", "off"],
  );
  const steer = async (what: string, value: object) => {
    const answer = await request(`${simulator.endpoints.api}/_simulator/${what}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${simulator.token}`, "content-type": "application/json" },
      body: JSON.stringify(value),
    });
    const said = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(said);
  };
  const server = `http://127.0.0.1:${(reviews.address() as AddressInfo).port}`;
  const kubeconfig = {
    "current-context": "bench",
    contexts: [{ name: "bench", context: { cluster: "bench", user: "bench" } }],
    clusters: [{ name: "bench", cluster: { server } }],
    users: [{ name: "bench", user: { token: "bench" } }],
  };
  const namespaces = ["loud", "quiet"].map((namespace) => ({ namespace, models: [model] }));
  const gateway = (...more: string[]) =>
    started(
      z.object({ url: z.string(), metrics: z.string() }),
      [
        ...["gateway", "--json", "--log-level", "error", "--upstream", simulator.endpoints.inference],
        ...["--kubeconfig", file("kubeconfig", stringify(kubeconfig)), "--token-file", file("token", simulator.token)],
        ...["--access-file", file("accesses.yaml", stringify(namespaces)), ...more],
      ],
      `--max-old-space-size=${OLD_SPACE_MB}`,
    );

  const fast = await gateway("--rate", "100000", "--burst", "10000");
  /** One after the other, in turns: what else the machine does hits both. */
  async function compare(what: string, count: number, goal?: number): Promise<void> {
    const [direct, through]: [number[], number[]] = [[], []];
    for (let nth = -50; nth < count; nth += 1) {
      const pair = [await chat(simulator.endpoints.inference, simulator.token), await chat(fast.url, "loud")] as const;
      if (nth < 0) continue;
      direct.push(pair[0]);
      through.push(pair[1]);
    }
    for (const [name, part] of [
      ["p50", 0.5],
      ["p99", 0.99],
    ] as const) {
      const [without, having] = [percentile(direct, part), percentile(through, part)];
      const figures = `${without.toFixed(2)} ms direct, ${having.toFixed(2)} ms through the gateway`;
      const ratio = having / without;
      const verdict =
        goal === undefined || name !== "p50" ? "" : `, goal ≤ ${goal}: ${ratio <= goal ? "met" : "missed"}`;
      console.log(`${what}, ${name}: ${figures}, ratio ${ratio.toFixed(2)}${verdict}`);
    }
  }
  await steer("limits", { inference: { perSecond: 100_000, burst: 100_000 } });
  await compare("a model that takes no time", calls, NO_TIME_GOAL);
  await steer("faults", { rules: [{ fault: "slow", seconds: 0.05, route: "POST /inference/*" }] });
  await compare("a model that takes 50 ms", Math.ceil(calls / 5));
  await steer("faults", {});

  const memory = async () => {
    const { body: metrics } = await request(fast.metrics);
    const page = await metrics.text();
    const megabytes = (name: string) =>
      Math.round(Number(new RegExp(`^${name} (\\S+)$`, "m").exec(page)?.[1]) / 1_048_576);
    return `${megabytes("process_resident_memory_bytes")} MB, heap ${megabytes("nodejs_heap_size_used_bytes")} MB`;
  };
  const atOnce = 20;
  for (let done = 0; done < streams; ) {
    const round = Math.ceil(streams / 10);
    const worker = async () => {
      for (let nth = 0; nth < round / atOnce; nth += 1) await chat(fast.url, "loud", { stream: true });
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    done += round;
    console.log(`${done} streams: ${await memory()}`);
  }

  const slow = await gateway();
  await chat(slow.url, "quiet");
  const over = new AbortController();
  const flood = Array.from({ length: 100 }, () => chat(slow.url, "loud", {}, over.signal).catch(() => 0));
  // The burst is gone when the first ten are answered.
  await Promise.all(flood.slice(0, 8));
  const waited = await chat(slow.url, "quiet");
  over.abort();
  await Promise.all(flood);
  console.log(`a single call behind a hundred: ${waited.toFixed(0)} ms, ${(waited / 200).toFixed(1)} slots of 200 ms`);
} finally {
  for (const child of running) child.kill();
  reviews.close();
  reviews.closeAllConnections();
  await agent.close();
  rmSync(folder, { recursive: true, force: true });
}
