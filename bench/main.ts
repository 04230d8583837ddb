import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** In the order in which they are run. */
const benches = {
  scale: {
    file: "scale/main.ts",
    what: "Mooring against a plain operator in Go: 1,020 objects, twelve scenarios, goals",
  },
  latency: {
    file: "latency.ts",
    what: "how long people wait for the operator and not for the platform: the sample landscape, applied three times",
  },
  admission: { file: "admission.ts", what: "CPU of the API server per write, against the same CRD without CEL rules" },
  "event-loop": { file: "event-loop.ts", what: "the event loop under 50,000 objects" },
  flowlogs: { file: "flowlogs.ts", what: "flow logs against zcat on the same objects; --size 1024 for a gigabyte" },
  gateway: { file: "gateway.ts", what: "the inference gateway" },
  "activity-export": { file: "activity-export.ts", what: "the export of the activity log" },
  tools: { file: "tools.ts", what: "the start of the tool server" },
} as const;
type Name = keyof typeof benches;
const names = Object.keys(benches).filter((name): name is Name => Object.hasOwn(benches, name));

const usage = `usage: make bench                          all benchmarks, about half an hour
       make bench ARGS="NAME [OPTION…]"    one of them; --help tells its options

${names.map((name) => `  ${name.padEnd(16)}${benches[name].what}`).join("\n")}

For example: make bench ARGS="scale --scenario create,delete --objects 10020 --json figures.json"`;

/** Ctrl-C reaches it as well; whatever it started ends with it. */
async function run(name: Name, args: readonly string[]): Promise<number> {
  const file = fileURLToPath(new URL(benches[name].file, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], { stdio: "inherit" });
  const [code]: unknown[] = await once(child, "exit");
  return typeof code === "number" ? code : 130;
}

async function main([wanted, ...args]: string[]): Promise<number> {
  if (wanted === "--help" || wanted === "-h") {
    console.log(usage);
    return 0;
  }
  const chosen = names.find((name) => name === wanted);
  if (wanted !== undefined && chosen === undefined) {
    console.error(`make bench: "${wanted}" is unknown\n\n${usage}`);
    return 2;
  }
  if (chosen !== undefined) return run(chosen, args);
  let worst = 0;
  for (const name of names) {
    console.log(`\n${name}: ${benches[name].what}`);
    const code = await run(name, []);
    if (code === 130) return code;
    worst = Math.max(worst, code);
  }
  return worst;
}

process.on("SIGINT", () => {});
process.exitCode = await main(process.argv.slice(2));
