import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "rolldown";
import { z } from "zod";
import { bundle } from "../image/bundle.ts";
import { modes } from "../src/tools/serve/modes.ts";

/**
 * `mooring tools` as it ships, from its start to the first answered tools/list, against a server of the same SDK with one
 * tool that is bundled in the same way; and what the list of tools costs a model in each mode. Both are started in turns.
 */
const { values } = parseArgs({ options: { runs: { type: "string", default: "15" } } });
const runs = Number(values.runs);
const root = fileURLToPath(new URL("../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "mooring-bench-"));

/** In the checkout, because it imports the SDK from there. */
const bare = `
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
serveStdio(() => {
  const server = new Server({ name: "bare", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools: [{ name: "one", inputSchema: { type: "object" } }] }));
  return server;
});
`;

const answer = z.looseObject({ id: z.number().optional(), result: z.looseObject({}).optional() });
const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};

/** Milliseconds to the first list, and its length. */
async function firstList(args: string[]): Promise<{ ms: number; characters: number }> {
  const began = performance.now();
  // It ends with its input, and so with this process.
  const child = spawn(process.execPath, args, { cwd: root, stdio: ["pipe", "pipe", "ignore"] });
  const { stdin, stdout } = child;
  const send = (message: object) => stdin.write(`${JSON.stringify(message)}\n`);
  send(initialize);
  send({ jsonrpc: "2.0", method: "notifications/initialized" });
  send({ jsonrpc: "2.0", id: 2, method: "tools/list" });
  for await (const line of createInterface({ input: stdout })) {
    const { id, result } = answer.parse(JSON.parse(line));
    if (id !== 2) continue;
    const ms = performance.now() - began;
    stdin.end();
    await once(child, "exit");
    return { ms, characters: JSON.stringify(result?.tools).length };
  }
  throw new Error(`it ended without a list: ${args.join(" ")}`);
}

const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

const source = join(root, ".bench-bare.mjs");
try {
  writeFileSync(source, bare);
  await build({
    input: source,
    platform: "node",
    logLevel: "warn",
    output: { dir: join(folder, "bare"), format: "esm" },
  });
  await bundle(join(folder, "dist"));
  symlinkSync(join(root, "package.json"), join(folder, "package.json"));
  const bareArgs = [join(folder, "bare/.bench-bare.js")];
  const toolArgs = [join(folder, "dist/main.js"), "tools"];
  const [bareMs, toolsMs]: [number[], number[]] = [[], []];
  for (let run = 0; run <= runs; run += 1) {
    const [one, other] = [await firstList(bareArgs), await firstList(toolArgs)];
    // The first start reads files that nobody has read before.
    if (run === 0) continue;
    bareMs.push(one.ms);
    toolsMs.push(other.ms);
  }
  const ratio = median(toolsMs) / median(bareMs);
  console.log(`start to first tools/list: ${ratio.toFixed(2)} times a bare server with one tool`);
  console.log(
    `  mooring tools ${median(toolsMs).toFixed(0)} ms, bare ${median(bareMs).toFixed(0)} ms; median of ${runs}; goal: 1.5`,
  );
  for (const mode of modes) {
    const { characters } = await firstList([...toolArgs, "--load-mode", mode]);
    const tokens = Math.round(characters / 4);
    console.log(`tokens of the tool list, ${mode}: about ${tokens.toLocaleString("en-US")} (${characters} characters)`);
  }
} finally {
  rmSync(source, { force: true });
  rmSync(folder, { recursive: true, force: true });
}
