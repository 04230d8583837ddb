import { z } from "zod";
import { type Steering, steer } from "../../test/cluster/steering.ts";
import { startProcess } from "../../test/processes.ts";
import { program } from "../../test/run/program.ts";

const readySchema = z.looseObject({ endpoints: z.record(z.string(), z.string()), token: z.string() });

/** A simulated platform, as a process of its own. */
export interface Platform extends Steering {
  readonly pid: number;
  readonly endpoints: Record<string, string>;
  stop(): Promise<void>;
}

/** Nothing that a bench makes is too much for its contract. */
const limits = { coresPerContract: 10_000_000, ramPerContract: 2_000_000_000, ssdLimitPerContract: 2_000_000_000 };

export async function startPlatform(speed: number): Promise<Platform> {
  const args = ["simulator", "--json", "--speed", String(speed), "--kafka", "off"];
  const { pid, ready, stop } = await startProcess(program(), args);
  const { endpoints, token } = readySchema.parse(ready);
  const steering = steer(endpoints.api ?? "", token);
  await steering.call("PUT", "/_simulator/limits", limits);
  const end = async () => void (await stop());
  return { ...steering, pid, endpoints, stop: end };
}
