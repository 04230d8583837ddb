import { readStatus } from "../../../src/engine/status/status.ts";
import { TooLate, until } from "../../cluster/chaos/wait.ts";
import type { Tenant } from "../tenants.ts";

/** Kinds with writes that must not happen twice: NICs, restores, LANs, keys. */
const delicate = ["Server", "Snapshot", "Lan", "MetricPipeline", "LogPipeline"];

/** Waits for the worst moment to die: such a write is recorded and not answered. After the time, any moment will do. */
export async function badMoment(tenants: readonly Tenant[], forMs: number): Promise<void> {
  const lists = tenants.flatMap(({ stage }) => delicate.map((kind) => () => stage.list(kind)));
  const missing = async () => {
    const objects = (await Promise.all(lists.map((list) => list()))).flat();
    return objects.some((object) => readStatus(object).request?.status === "SENDING") ? undefined : "nobody sends";
  };
  try {
    await until(missing, { title: "bad moment", forMs, everyMs: 50 });
  } catch (error) {
    if (!(error instanceof TooLate)) throw error;
  }
}
