import type { Requeue } from "../../kube/queue/work.ts";
import { identityOf } from "../../platform/collections/numbered.ts";
import type { Deps } from "../observe/deps.ts";
import { mayBeListed } from "../observe/resource/lookalike.ts";
import { contestOf, creationOf } from "../observe/resource/search-results.ts";
import type { Context } from "../observe/view.ts";
import { type Intent, notBefore } from "../state/intent.ts";
import type { Begun, Made, SearchResult } from "../state/memory.ts";
import { writeMetadata } from "../write/write.ts";
import { claim } from "./claim.ts";
import { search } from "./search.ts";

/**
 * Marks the resource that is about to be claimed, and waits until the watch shows the mark. By then it has shown all
 * earlier marks. So if two processes want one resource, at least one sees the mark of the other.
 */
async function markIntent(deps: Deps, context: Context, intent: Intent, made: Made): Promise<Requeue | undefined> {
  const { key, kind, object, memory } = context;
  const identity = identityOf(made);
  const marked = { ...intent, found: identity };
  const within = { ...made, parents: intent.parents, endpoint: intent.endpoint };
  const { isLost, yields } = contestOf(deps, key, kind, marked);
  if (isLost || deps.objects.claimants(kind.kind, within).some((claimant) => claimant !== key)) {
    // It belongs to another object now, even if this process created it.
    memory.creation = { ...begunOf(context, intent), phase: "sent" };
    return "now";
  }
  if (intent.found === identity) {
    const isShown = deps.objects.store(kind.kind).hasShown(object.metadata.resourceVersion ?? "");
    return isShown && yields.size === 0 ? undefined : { inMs: SHOWN_MS };
  }
  deps.guard();
  await writeMetadata(deps, kind, object, { intent: marked });
  return { inMs: SHOWN_MS };
}

/** Removes the mark of a resource that will not be claimed. */
async function unmark(deps: Deps, context: Context, marked: Intent, { matches }: SearchResult): Promise<void> {
  const { found, ...intent } = marked;
  if (found === undefined || (matches.has(found) && !contestOf(deps, context.key, context.kind, marked).isLost)) return;
  deps.guard();
  await writeMetadata(deps, context.kind, context.object, { intent });
}

const SHOWN_MS = 50;

/** Searches for the result of the open intent. */
export async function searchFor(deps: Deps, context: Context): Promise<Requeue> {
  const { kind, memory, view } = context;
  const { intent } = view.resource;
  if (!intent) return "now";
  const known = creationOf(memory, intent);
  const begun = begunOf(context, intent);
  const before = known?.phase === "sent" ? known.search : undefined;
  const terms = { settledAt: view.times.settledAt, deleting: view.spec.deleting };
  const found = await search(deps, context, terms, intent, before);
  memory.creation = { ...begun, phase: "sent", search: found };
  // The log alone may be wrong: before anything is sent again, a list must not show the result either.
  const isNothingFound = found.settledSearches > 0 && found.matches.size === 0 && !found.unseen.has("");
  if (isNothingFound && !memory.doubt && mayBeListed(kind)) {
    memory.doubt = { since: deps.clock.monotonic(), intent };
    context.shared?.collection.refresh([]);
  }
  await unmark(deps, context, intent, found);
  return "now";
}

function begunOf({ memory, view }: Context, intent: Intent): Begun {
  const { begunAt = memory.begun?.at ?? view.times.now, own = false, foreign } = creationOf(memory, intent) ?? {};
  return { intent, begunAt, own, foreign };
}

/** Claims a resource that a search has found. */
export async function takeOver(deps: Deps, context: Context, identity: string): Promise<Requeue> {
  const { memory, view } = context;
  const { intent } = view.resource;
  if (!intent) return "now";
  const known = creationOf(memory, intent);
  const begun = begunOf(context, intent);
  const match = known?.phase === "sent" ? known.search?.matches.get(identity) : undefined;
  const made = match ?? { id: identity, notBefore: notBefore(intent) };
  const found = known?.phase === "made" ? known : { ...begun, phase: "made" as const, made, searched: true };
  if (deps.shards.divided()) {
    const wait = await markIntent(deps, context, intent, made);
    if (wait) return wait;
  }
  // Set before anything is awaited, so that no object with an equal intent claims the same resource.
  memory.creation = found;
  memory.doubt = undefined;
  await claim(deps, context, found, true);
  return "now";
}
