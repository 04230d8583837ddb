import { createLog } from "../operator/log.ts";
import { readConfig, usage } from "./config.ts";
import { runGateway } from "./start.ts";

/** `mooring gateway`: runs until SIGINT or SIGTERM. Logs go to stderr. */
export async function gatewayCommand(argv: string[]): Promise<number> {
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
  process.on("unhandledRejection", (error) => log.error({ err: error }, "unhandled rejection"));
  await runGateway(config, log, stopping.signal);
  return 0;
}
