import type { Logger } from "pino";
import { createLog, type LogFormat } from "./log.ts";

/** The log settings that every server has. */
interface Logging {
  logLevel: string;
  logFormat: LogFormat;
}

/** Runs a server until SIGINT or SIGTERM, or prints its help. Logs go to stderr. */
export async function untilStopped<Config extends Logging>(
  config: Config | "help",
  usage: () => string,
  run: (config: Config, log: Logger, signal: AbortSignal) => Promise<void>,
): Promise<number> {
  if (config === "help") {
    console.log(usage());
    return 0;
  }
  const log = createLog({ level: config.logLevel, format: config.logFormat });
  const stopping = new AbortController();
  const stop = (signal: NodeJS.Signals) => {
    log.info({ signal }, "stopping");
    stopping.abort();
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  // A bug in one task must not end the others: it is logged as an error instead.
  process.on("unhandledRejection", (error) => log.error({ err: error }, "unhandled rejection"));
  await run(config, log, stopping.signal);
  return 0;
}
