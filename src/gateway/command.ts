import { untilStopped } from "../server/until-stopped.ts";
import { readConfig, usage } from "./config.ts";
import { runGateway } from "./start.ts";

/** `mooring gateway`: runs until SIGINT or SIGTERM. Logs go to stderr. */
export const gatewayCommand = (argv: string[]): Promise<number> => untilStopped(readConfig(argv), usage, runGateway);
