import { readFileSync } from "node:fs";
import { systemClock } from "../runtime/clock.ts";
import { followPair, readPair } from "../server/serving-certificate.ts";
import { createToolServer } from "../tools/serve/server.ts";
import { readSettings, type Settings, usage } from "./tools/flags.ts";
import { openSources } from "./tools/sources.ts";

/** `mooring tools`: runs until its client disconnects, or until SIGINT or SIGTERM. stdout has only the protocol. */
export async function toolsCommand(argv: string[]): Promise<number> {
  const settings = readSettings(argv);
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  if (settings === "help" || settings === "version") {
    console.log(settings === "help" ? usage : `mooring ${version}`);
    return 0;
  }
  const say = (line: string) => console.error(`mooring tools: ${line}`);
  for (const warning of settings.warnings) say(warning);
  say(settings.summary);
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stopping.abort());
  await using sources = openSources(settings, process.env);
  const open = (kept = true) => createToolServer({ version, mode: settings.mode, kept, sources });
  const ended = new Promise<void>((resolve) => stopping.signal.addEventListener("abort", () => resolve()));
  await (settings.transport === "http" ? overHttp(settings, open, ended, say) : overStdio(open, ended, stopping, say));
  return 0;
}

type Open = (kept?: boolean) => ReturnType<typeof createToolServer>;
type Say = (line: string) => void;

async function overStdio(open: Open, ended: Promise<void>, stopping: AbortController, say: Say): Promise<void> {
  const { serveStdio } = await import("@modelcontextprotocol/server/stdio");
  process.stdin.once("end", () => stopping.abort()).once("close", () => stopping.abort());
  process.stdout.once("error", () => stopping.abort());
  const serving = serveStdio(() => open(), { onerror: (error) => say(error.message) });
  await ended;
  await serving.close();
  process.stdin.destroy();
}

async function overHttp(settings: Settings, open: Open, ended: Promise<void>, say: Say): Promise<void> {
  const { serveHttp } = await import("../tools/serve/http.ts");
  const { bearerTokenFile: file, hosts, origins, listen, tls } = settings;
  const bearers = () => {
    const text = (file === undefined ? process.env.MOORING_TOOLS_BEARER_TOKEN : readFileSync(file, "utf8")) ?? "";
    return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  };
  if (bearers().length === 0 || bearers().some((each) => each.length < 16)) {
    throw new Error(
      "http needs bearer tokens of at least 16 characters: set MOORING_TOOLS_BEARER_TOKEN or --bearer-token-file",
    );
  }
  const onError = (error: unknown) => say(error instanceof Error ? error.message : String(error));
  const serving = await serveHttp({
    listen,
    bearers,
    hosts,
    origins,
    open,
    clock: systemClock,
    onError,
    tls: tls && (await readPair(tls)),
  });
  if (tls) void ended.then(followPair(tls, { clock: systemClock, changed: serving.renew, onError }));
  if (settings.json) console.log(JSON.stringify({ ready: true, url: serving.url }));
  say(`serving at ${serving.url}`);
  await ended;
  await serving.close();
}
