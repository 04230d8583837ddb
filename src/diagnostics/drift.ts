import { readStatus } from "../engine/status/status.ts";
import { allObjects, summaryOf } from "./objects.ts";
import type { Sources } from "./sources.ts";

/** Objects whose resource differs from spec, as the operator last read it. */
export async function driftReport(
  sources: Sources,
  { namespace, selector }: { namespace?: string | undefined; selector?: string | undefined },
) {
  const all = [...(await allObjects(sources, namespace, undefined, selector)).values()];
  const items = all.flatMap((each) => {
    const { drift = [] } = readStatus(each.object);
    if (drift.length === 0) return [];
    const { kind, namespace: where, name, reason, message, id } = summaryOf(each);
    return [{ kind, namespace: where, name, id, reason, message, drift }];
  });
  return { items, checked: all.filter(({ kind }) => kind.resource).length };
}
