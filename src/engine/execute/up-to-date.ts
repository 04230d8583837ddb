import type { Requeue } from "../../kube/queue/work.ts";
import { PlatformError } from "../../platform/answers/errors.ts";
import { several } from "../decide/waiting.ts";
import { type Deps, readLimit } from "../observe/deps.ts";
import { sources } from "../observe/fixed-fields.ts";
import { type LeftBehind, leftBehindNow } from "../observe/left-behind.ts";
import { inputsOf } from "../observe/observe.ts";
import type { Context } from "../observe/view.ts";
import { confirmedBirth } from "../state/identity.ts";
import type { Claim } from "../state/intent.ts";
import type { Memory } from "../state/memory.ts";
import { ALLOW_DATA_LOSS, PUBLISHED } from "../state/names.ts";
import type { Note } from "../state/published.ts";
import { daysLeft } from "../status/expiry.ts";
import { needsPerson, type Obstacle } from "../status/reasons.ts";
import type { ResourceStatus } from "../status/schema.ts";
import { type ReadyState, readFacts } from "../status/status.ts";
import { comparison, ownership, record } from "../write/record.ts";
import { writeMetadata } from "../write/write.ts";
import { isOver } from "./delete-unclaimed.ts";

/** The resource is up to date: records it, and when to check again. */
export async function rest(deps: Deps, context: Context, keep: boolean, obstacle?: Obstacle): Promise<Requeue> {
  const { kind, shared, view, memory, object, desired, inputs, identity, related, note } = context;
  const { claim: owned } = view;
  if (!owned || !shared) return "never";
  const item = shared.collection.read(identity).item;
  const ready: ReadyState = view.observed
    ? { mode: "ready", reason: "Observed", message: `${kind.kind} is observed and never changed` }
    : { mode: "ready", reason: "Available", message: `${kind.kind} is up to date` };
  const { drift } = comparison(context);
  const publication = view.observed ? undefined : desired?.publication({ name: object.metadata.name });
  const born = owned.born ?? context.status.born ?? (await learntBirth(context, { id: owned.id, raw: item?.raw }));
  const known = {
    ...ownership(context),
    born,
    // Restored from a backup: whoever had it since then, has it no more.
    ...(!view.observed && context.status.id === undefined && { adoptedAt: new Date(view.platformNow).toISOString() }),
    ...(view.observed && isOthers(deps, context, { ...owned, born }) && { onlyObserved: true }),
    // A word that is no longer there may be given again.
    lossAllowed: object.metadata.annotations?.[ALLOW_DATA_LOSS] === undefined ? undefined : context.status.lossAllowed,
    state: item?.state,
    fixed: fixedNow(context),
    secretName: note && publication?.name,
    ...shownKey(note),
    expiresIn: note?.key.expiresAt && daysLeft(Date.parse(note.key.expiresAt), view.platformNow),
  };
  const given = {
    ...(inputs ?? inputsOf(object, { parents: owned.parents, refs: {} })),
    ...(related && { related }),
  };
  const facts = item ? kind.resource.comparison.facts(item.raw, given) : readFacts(object);
  const differences = drift?.length ? drift : undefined;
  const advice = desired && inputs && !view.observed ? desired.advice(inputs) : [];
  if (view.secret === "missing") advice.push(KEYLESS);
  if (view.secret === "unmarked" && publication) advice.push(...strippedAdvice(publication.name, memory.repair));
  if (memory.renewAfter !== undefined) advice.push(UNRENEWED);
  const unclaimed = memory.unclaimed?.filter((id) => shared.collection.read(id).item) ?? [];
  if (unclaimed.length > 0) advice.push(unclaimedAdvice(kind.kind, unclaimed));
  const { leftBehind, there } = leftBehindNow(deps, context);
  advice.push(...there.map((each) => leftAdvice(kind.kind, each)));
  const said = advice.length > 0 ? advice : undefined;
  const shown = await record(
    deps,
    context,
    obstacle ? { mode: needsPerson(obstacle.reason) ? "stalled" : "reconciling", ...obstacle } : ready,
    { ...known, request: undefined, drift: differences, leftBehind, advice: said },
    facts,
  );
  if (!view.observed) shared.collection.untrack(identity);
  memory.failure = undefined;
  memory.accepted = undefined;
  memory.askedAt = undefined;
  if (memory.creation && isOver(deps, memory.creation)) memory.creation = undefined;
  memory.restingSince = keep || view.annotateAt === undefined ? undefined : (memory.restingSince ?? view.now);
  if (keep) await writeMetadata(deps, kind, shown, { claim: ownership(context) });
  // The platform's clock tells when, and may go another way than ours: a long time is not waited for in one go.
  const platformTimes = [view.keyDueAt, context.status.previous && Date.parse(context.status.previous.until)];
  const dueIn = [
    ...(keep || view.annotateAt === undefined ? [] : [view.annotateAt - view.now]),
    ...platformTimes
      .filter((at) => at !== undefined)
      .map((at) => Math.min(Math.max(0, at - view.platformNow), deps.settings.resyncMs)),
    ...(typeof view.output === "object" ? [view.output.dueAt - view.now] : []),
    // Nobody tells that an object has adopted it.
    ...(leftBehind ? [deps.settings.resyncMs] : []),
    ...(view.secret === "unmarked" && view.repair ? [Math.max(0, view.repair.at - view.now)] : []),
  ];
  return dueIn.length === 0 ? "never" : { inMs: Math.min(...dueIn), background: true };
}

/** Spec asks for nothing on the platform, and there is nothing: shows what else there is to know. */
export async function idle(deps: Deps, context: Context): Promise<Requeue> {
  const { kind, object, inputs, memory } = context;
  const ready = { mode: "ready", reason: "Available", message: `${kind.kind} is in effect` } as const;
  const facts = inputs ? kind.resource.comparison.facts(undefined, inputs) : readFacts(object);
  await record(
    deps,
    context,
    ready,
    { fixed: fixedNow(context), request: undefined, advice: undefined, expiresIn: undefined },
    facts,
  );
  memory.failure = undefined;
  return "never";
}

/** Whether who had it and only observes it by now owns nothing of it any more: another object has it, or may have its number. */
const isOthers = ({ objects }: Deps, { kind }: Context, claim: Claim): boolean =>
  objects.claimants(kind.kind, claim).length > 0 ||
  (claim.born === undefined && kind.resource.identity.reusesIds === true);

/** When the resource was made. What cannot be learnt now is learnt at another rest: the object is no less Ready for it. */
async function learntBirth({ kind, shared, view }: Context, seen: { id: string; raw: unknown }) {
  if (!shared || view.observed) return undefined;
  try {
    return await confirmedBirth(kind, shared, seen, readLimit());
  } catch (error) {
    if (error instanceof PlatformError) return undefined;
    throw error;
  }
}

/** What was looked up in a catalogue need not be looked up again, until spec names something else. */
function fixedNow({ kind, desired, inputs, status, view }: Context): ResourceStatus["fixed"] {
  if (!desired?.check || !inputs || view.unchecked || view.observed) return status.fixed;
  return { ...status.fixed, ...sources(kind, desired, inputs) };
}

function shownKey(note: Note | undefined) {
  return note && "serial" in note.key ? { certificate: note.key } : { key: note?.key };
}

const KEYLESS =
  "the key of an adopted resource cannot be read: set the annotation mooring.dev/rotate-at to create a new one; the current key then stops working";

const leftAdvice = (former: string, { kind, id }: LeftBehind): string =>
  `${kind} ${id} of the previous ${former} is still on the platform, and nothing uses it: create a ${kind} object with externalId: ${id} to keep it, or delete it on the platform, which loses its data; it is billed until then`;
/** What Mooring writes about a Secret does not stay there; the key works all the same. */
function strippedAdvice(name: string, repair: Memory["repair"]): string[] {
  const what = `the labels and the annotation ${PUBLISHED} of Secret ${name}`;
  if (repair?.obstacle) return [`${what} were changed and cannot be put back: ${repair.obstacle.message}`];
  return repair && repair.times > 0
    ? [
        `${what} are changed again after each write: except the Secret from the admission hook or controller that does so`,
      ]
    : [];
}

const unclaimedAdvice = (kind: string, ids: readonly string[]): string =>
  `an interrupted creation may have left one of these ${kind}s, which nobody can use: ${several(ids)}; they expire by themselves`;

const UNRENEWED = "the certificate is due for renewal, but the platform has no newer one yet; retrying";
