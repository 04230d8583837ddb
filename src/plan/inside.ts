import { decide } from "../engine/decide/decide.ts";
import { insideOf } from "../engine/execute/inside.ts";
import type { Context } from "../engine/observe/view.ts";
import { observes } from "../engine/state/object.ts";
import { policiesOf } from "../engine/state/policies.ts";
import { titlesOf } from "../kinds/contents.ts";
import { type Decided, type Stage, settled } from "./stage.ts";

/** The ids of what is inside and belongs to objects that are being deleted: `gone` with them, or `kept`. */
function leavingFrom({ objects }: Stage, { key, view }: Context): Record<"gone" | "kept", Set<string>> {
  const ids = { gone: new Set<string>(), kept: new Set<string>() };
  const { claim } = view.resource;
  for (const each of claim ? [...objects.dependents(key), ...objects.inhabitants(claim.id, claim.endpoint)] : []) {
    const object = objects.find(each)?.object;
    const id = objects.owned(each)?.id;
    if (object?.metadata.deletionTimestamp === undefined || id === undefined) continue;
    const isKept = policiesOf(object).deletionPolicy === "Retain" || observes(object);
    (isKept ? ids.kept : ids.gone).add(id);
  }
  return ids;
}

/**
 * The decision about a deletion once all deletions of the plan are over. A resource that holds more is not deleted. Where
 * some of it belongs to others inside, it is certain only about what is kept on purpose.
 */
export async function emptied(stage: Stage, found: Decided): Promise<Decided & { unread?: string }> {
  const { context, decision } = found;
  const { view } = context;
  const { contents: source } = context.kind.resource.destruction;
  const { contents } = view.resource;
  if (!source || !contents) return found;
  const isWaiting = decision.step === "wait" && contents.leaving.length > 0;
  if (!isWaiting && decision.step !== "inspect") return found;
  const { gone, kept } = leavingFrom(stage, context);
  if (isWaiting && source.nested && kept.size === 0) return found;
  try {
    const { claim } = view.resource;
    const inside = claim ? await insideOf(stage, context, claim) : [];
    const left = inside.filter(({ id }) => !isWaiting || (source.nested ? kept.has(id) : !gone.has(id)));
    if (left.length === 0) return found;
    const seen = { asOf: Number.POSITIVE_INFINITY, names: titlesOf(left), since: 0 };
    const then = { ...contents, leaving: [], found: seen };
    return { context, decision: decide(settled({ ...view, resource: { ...view.resource, contents: then } })) };
  } catch (error) {
    return { ...found, unread: `what is inside is not known: ${error instanceof Error ? error.message : error}` };
  }
}
