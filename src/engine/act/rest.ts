import type { Again, Deps } from "../look/deps.ts";
import { inputsOf } from "../look/look.ts";
import { dueAt } from "../look/rotation.ts";
import type { Scene } from "../look/view.ts";
import { birthOf } from "../objects/identity.ts";
import { ALLOW_DATA_LOSS, INTENT } from "../objects/names.ts";
import type { Note } from "../objects/published.ts";
import { comparison, keptClaim, ownership, record } from "../record/record.ts";
import { writeMetadata } from "../record/write.ts";
import { readFacts, type Standing } from "../schema/status.ts";

/** All is as spec says: shows it, and when to look again. */
export async function rest(deps: Deps, scene: Scene): Promise<Again> {
  const { kind, shared, view, memory, object, desired, inputs, identity } = scene;
  const { claim: owned } = view;
  if (!owned || !shared) return "never";
  const item = shared.collection.read(identity).item;
  const { noun } = kind.resource.names;
  const ready: Standing = view.observed
    ? { mode: "ready", reason: "Observed", message: `the ${noun} is observed and never changed` }
    : { mode: "ready", reason: "Available", message: `the ${noun} is up to date` };
  const { drift } = comparison(scene);
  const publication = view.observed ? undefined : desired?.publication({ name: object.metadata.name });
  const note = publication && deps.published.find(object, publication.name).note;
  const known = {
    ...ownership(scene),
    born: owned.born ?? (view.observed ? undefined : birthOf(kind, item?.raw)),
    // A word that is no longer there may be given again.
    lossAllowed: object.metadata.annotations?.[ALLOW_DATA_LOSS] === undefined ? undefined : scene.status.lossAllowed,
    state: item?.state,
    secretName: note && publication.name,
    ...shownKey(note),
  };
  const context = inputs ?? inputsOf(object, { parents: owned.parents, refs: {} });
  const facts = item ? kind.resource.comparison.facts(item.raw, context) : readFacts(object);
  const differences = drift?.length ? drift : undefined;
  const advice = desired && inputs && !view.observed ? desired.advice(inputs) : [];
  if (view.secret === "missing") advice.push(KEYLESS);
  if (memory.renewAfter !== undefined) advice.push(UNRENEWED);
  const said = advice.length > 0 ? advice : undefined;
  await record(deps, scene, ready, { ...known, request: undefined, drift: differences, advice: said }, facts);
  const before = scene.status.advice ?? [];
  for (const news of advice.filter((each) => !before.includes(each))) {
    deps.events.record(object, "Warning", "Advice", news);
  }
  shared.collection.untrack(identity);
  memory.failure = undefined;
  memory.askedAt = undefined;
  const again = await annotate(deps, scene);
  const due = note && dueAt(note.key, desired?.rotation(), memory.renewAfter);
  if (due === undefined) return again;
  // The platform's clock tells when, and may go another way than ours: a long time is not waited for in one go.
  const inMs = Math.min(Math.max(0, due - view.platformNow), deps.settings.resyncMs);
  return typeof again === "object" && again.inMs < inMs ? again : { inMs, background: true };
}

function shownKey(note: Note | undefined) {
  return note && "serial" in note.key ? { certificate: note.key } : { key: note?.key };
}

const KEYLESS =
  "the key of a resource that was taken over cannot be read: set the annotation mooring.dev/rotate-at to make a new one, which ends the present one";

const UNRENEWED =
  "the certificate is due to be renewed, and the platform has no younger one yet: it is asked again from time to time";

/**
 * Some time into its rest, an object's intent gives way to the id: it survives a backup that has no status. While
 * neighbours are still being built, their writes go first.
 */
async function annotate(deps: Deps, scene: Scene): Promise<Again> {
  const { key, kind, view, memory, shared } = scene;
  const object = deps.objects.find(key)?.object;
  if (!object || !view.claim || object.metadata.annotations?.[INTENT] === undefined) return "never";
  const now = deps.clock.monotonic();
  if (shared && shared.collection.inFlux > 0) memory.restingSince = now;
  memory.restingSince ??= now;
  const inMs = memory.restingSince + deps.settings.annotateAfterMs - now;
  if (inMs > 0) return { inMs, background: true };
  deps.guard();
  await writeMetadata(deps, kind, object, keptClaim(scene));
  memory.restingSince = undefined;
  return "never";
}
