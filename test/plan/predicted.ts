import type { KubeObject } from "../../src/kube/resource.ts";
import type { PlanItem } from "../../src/plan/item.ts";
import type { Stage } from "../engine/support/stage.ts";

export const keyOf = ({ kind, metadata }: KubeObject) => `${kind}/${metadata.namespace}/${metadata.name}`;

export const isWrite = ({ method }: { method: string }) => method !== "GET";

/** Runs the engine until two rounds in a row change nothing, and longer for a deletion, which waits for a reading. */
export async function rest(life: Stage, keys: readonly string[]): Promise<void> {
  const written = () => life.platform.calls.filter(isWrite).length + Number(life.api.version);
  const isLeaving = (key: string) => life.objects.find(key)?.object.metadata.deletionTimestamp !== undefined;
  let quiet = 0;
  for (let round = 0; round < 12 && quiet < 2; round++) {
    const before = written();
    life.sync();
    for (const key of keys) if (life.objects.find(key)) await life.passes(key);
    await life.clock.advance(5_000);
    quiet = written() === before && !keys.some(isLeaving) ? quiet + 1 : 0;
  }
}

/** The writes that an item of a plan means. Each change of these kinds is one write. */
export function expected({ action, writes, replacement }: PlanItem): string[] {
  if (!writes) return [];
  if (action === "create") return ["POST"];
  if (action === "replace") return replacement?.allowed ? ["DELETE", "POST"] : [];
  return action === "delete" ? ["DELETE"] : ["PATCH"];
}
