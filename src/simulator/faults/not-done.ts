import { kindOf } from "../core/table.ts";
import { type Reply, requestIn } from "../http/exchange.ts";
import type { World } from "../world.ts";

/** What stays of a change that is not made: that it was asked for. */
const kept = new Set(["requests", "activity", "counters"]);

/**
 * Takes back what a call has changed, and lets its request end as if it had been done: what it is about is BUSY until
 * then and looks as before. Inside the transaction of the call.
 */
export function takeBack(world: World, reply: Reply): void {
  world.documents.takeBack((table) => !kept.has(table.split("/").at(-1) ?? ""));
  const record = world.requests.get(requestIn(reply) ?? "");
  if (record?.status !== "BUSY") return;
  const still = record.targets.flatMap(({ key }) => world.resources.get(key) ?? []);
  for (const each of still) {
    world.resources.put({ ...each, state: "BUSY", shownState: kindOf(each.type).states?.update });
  }
  const settle = still.map(({ key }) => ({ op: "settle" as const, key }));
  world.requests.put(record.id, { ...record, onDone: settle, onFailed: settle });
}
