#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { people } from "./cli/people/commands.ts";

type Command = (argv: string[]) => Promise<number>;

interface Entry {
  summary: string;
  /** Loaded only when called: `mooring version` must not pay for the operator. */
  load: () => Promise<Command>;
}

const commands: Record<string, Entry> = {
  ...Object.fromEntries(
    Object.entries(people).map(([name, { summary, load }]) => [
      name,
      { summary, load: async () => (await load()).run },
    ]),
  ),
  demo: {
    summary: "a Kubernetes API, the platform simulator and the operator on this machine, with samples applied",
    load: async () => (await import("./cli/demo.ts")).demoCommand,
  },
  cluster: {
    summary: "a Kubernetes control plane on this machine",
    load: async () => (await import("./cli/cluster.ts")).clusterCommand,
  },
  simulator: {
    summary: "the platform's APIs on this machine",
    load: async () => (await import("./simulator/command.ts")).simulatorCommand,
  },
  operator: {
    summary: "the operator itself",
    load: async () => (await import("./operator/command.ts")).operatorCommand,
  },
  gateway: {
    summary: "inference gateway: ServiceAccount tokens, fair shares and budgets per namespace",
    load: async () => (await import("./gateway/command.ts")).gatewayCommand,
  },
  flowlogs: {
    summary: "read flow logs from object storage: records, filters, top talkers",
    load: async () => (await import("./cli/flowlogs.ts")).flowlogsCommand,
  },
  activity: {
    summary: "read the platform's activity log: who changed what, with the objects of the cluster",
    load: async () => (await import("./cli/activity.ts")).activityCommand,
  },
  tools: {
    summary: "read-only tools for AI clients: the contract and Mooring's objects, over stdio or HTTP",
    load: async () => (await import("./cli/tools.ts")).toolsCommand,
  },
  rights: {
    summary: "print what the operator may do, for the whole cluster or for some namespaces",
    load: async () => (await import("./cli/rights.ts")).rightsCommand,
  },
  version: { summary: "print the version", load: async () => version },
  help: { summary: "show this help, or the help of a command", load: async () => help },
};

async function version(): Promise<number> {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  console.log(`mooring ${version}`);
  return 0;
}

async function help([topic]: string[]): Promise<number> {
  if (topic !== undefined && topic !== "help") return run([topic, "--help"]);
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const list = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  console.log(`mooring keeps a contract of IONOS Cloud in the state its Kubernetes objects describe.

usage: mooring COMMAND [OPTION…]

${list.join("\n")}

"mooring COMMAND --help" shows the options of a command.
Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted before it was done. MOORING_DEBUG=1 shows where an error came from.`);
  return 0;
}

/** Directives of kubectl's completion: add no space after the candidate, and offer no files. */
const NO_SPACE = 2;
const NO_FILES = 4;

/**
 * Completion for shells: candidates for the last word, one per line; with `--directive` in the form of kubectl plugins.
 */
async function complete(words: string[]): Promise<number> {
  const { candidates } = await import("./cli/frame/completion.ts");
  const names = Object.fromEntries(Object.entries(commands).map(([name, { summary }]) => [name, summary]));
  const isDirective = words[0] === "--directive";
  const known = { names, load: (name: string) => (Object.hasOwn(people, name) ? people[name]?.load() : undefined) };
  const found = await candidates(known, isDirective ? words.slice(1) : words, process.env);
  const areFolders = found.every((each) => each.endsWith("/"));
  const directive = found.length === 0 ? 0 : areFolders ? NO_FILES | NO_SPACE : NO_FILES;
  for (const line of isDirective ? [...found, `:${directive}`] : found) console.log(line);
  return 0;
}

async function run([name = "help", ...argv]: string[]): Promise<number> {
  if (name === "__complete") return complete(argv);
  const aliased = { "--help": "help", "-h": "help", "--version": "version" }[name] ?? name;
  const command = Object.hasOwn(commands, aliased) ? commands[aliased] : undefined;
  if (command) return (await command.load())(argv);
  console.error(`mooring: unknown command "${name}"; valid: ${Object.keys(commands).join(", ")}`);
  return 2;
}

function report(error: unknown): number {
  const failure = error instanceof Error ? error : new Error(String(error));
  console.error(process.env.MOORING_DEBUG ? failure : `mooring: ${failure.message}`);
  const code = "code" in failure ? String(failure.code) : "";
  return code.startsWith("ERR_PARSE_ARGS") ? 2 : 1;
}

// The HTTP parser of undici is WebAssembly. Its optimized code would occupy ten megabytes as long as the process runs.
for (const flag of ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering"]) setFlagsFromString(flag);

// Keeps compiled code on disk, so that only the first start compiles. Without a writable folder, every start compiles.
const { XDG_CACHE_HOME, HOME } = process.env;
enableCompileCache(join(XDG_CACHE_HOME || join(HOME || homedir(), ".cache"), "mooring", "compiled"));

process.exitCode = await run(process.argv.slice(2)).catch(report);
