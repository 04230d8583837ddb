import { LeadershipLost } from "../kube/lease/leadership-lost.ts";
import { untilStopped } from "../server/until-stopped.ts";
import { readConfig, usage } from "./config.ts";
import { requirePlatform } from "./endpoints.ts";
import { collectGarbage } from "./garbage.ts";
import { InstallationTaken } from "./installation.ts";
import { runOperator, StopOverdue } from "./start.ts";

/** `mooring operator`: runs until SIGINT or SIGTERM. Logs go to stderr. */
export async function operatorCommand(argv: string[]): Promise<number> {
  try {
    const config = readConfig(argv);
    if (config !== "help") requirePlatform(config);
    return await untilStopped(config, usage, (...start) => {
      collectGarbage();
      return runOperator(...start);
    });
  } catch (error) {
    const isExpected = [LeadershipLost, InstallationTaken, StopOverdue].some((each) => error instanceof each);
    if (!isExpected || !(error instanceof Error)) throw error;
    console.error(`mooring: ${error.message}`);
    // The process must end even if something hangs: it no longer leads, or its shutdown timed out.
    process.exit(1);
  }
}
