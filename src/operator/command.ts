import { readConfig, usage } from "./config.ts";
import { LeadershipLost } from "./leadership-lost.ts";
import { createLog } from "./log.ts";
import { runOperator, StopOverdue } from "./start.ts";

/** `mooring operator`: runs until SIGINT or SIGTERM. Logs go to stderr. */
export async function operatorCommand(argv: string[]): Promise<number> {
  const config = readConfig(argv);
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
  // A mistake in one pass must not end the work of all the others; it is loud in the log instead.
  process.on("unhandledRejection", (error) => log.error({ err: error }, "unhandled rejection"));
  try {
    await runOperator(config, log, stopping.signal);
  } catch (error) {
    if (!(error instanceof LeadershipLost || error instanceof StopOverdue)) throw error;
    console.error(`mooring: ${error.message}`);
    // Whatever hangs must not keep a process alive that is no leader any more, or is to end.
    process.exit(1);
  }
  return 0;
}
