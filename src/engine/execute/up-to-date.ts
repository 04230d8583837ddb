import type { Shown } from "../../kinds/desired.ts";
import { defaultAdvice } from "../../kinds/fields/lacking.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import { PlatformError } from "../../platform/answers/errors.ts";
import { confirmedBirth } from "../../platform/collections/numbered.ts";
import { nextAttempt } from "../../runtime/attempt.ts";
import { daysLeft, several } from "../../runtime/text.ts";
import { type Deps, readLimit } from "../observe/deps.ts";
import type { Shared } from "../observe/resource/collections.ts";
import { type LeftBehind, leftBehindNow } from "../observe/resource/left-behind.ts";
import { previousLeftMs } from "../observe/secrets/secrets.ts";
import { sources, withStated } from "../observe/spec/fixed-fields.ts";
import { inputsOf } from "../observe/spec/spec.ts";
import type { Context } from "../observe/view.ts";
import type { Claim } from "../state/intent.ts";
import type { Memory } from "../state/memory.ts";
import { ALLOW_DATA_LOSS, EXTERNAL_ID, PUBLISHED } from "../state/names.ts";
import { isMisnamed } from "../state/object.ts";
import type { Obstacle } from "../status/reasons.ts";
import type { ResourceStatus } from "../status/schema.ts";
import { conditionFor, type ReadyState, readFacts } from "../status/status.ts";
import { driftSeen, ownership, record } from "../write/record.ts";
import { writeMetadata } from "../write/write.ts";
import { isFinal } from "./delete-unclaimed.ts";

/** The resource is up to date: records that, and when to check again. */
export async function rest(deps: Deps, context: Context, keep: boolean, obstacle?: Obstacle): Promise<Requeue> {
  const { kind, shared, view, memory, object, publication, inputs, identity, item, related, note } = context;
  const { claim: owned } = view.resource;
  const { observed } = view.spec;
  const { now, platformNow, annotateAt } = view.times;
  if (!owned || !shared) return "never";
  const ready: ReadyState = observed
    ? { mode: "ready", reason: "Observed", message: `${kind.kind} is observed and never changed` }
    : { mode: "ready", reason: "Available", message: `${kind.kind} is up to date` };
  const { drift } = driftSeen(context);
  const born = owned.born ?? context.status.born ?? (await learntBirth(context, { id: owned.id, raw: item?.raw }));
  const known = {
    ...ownership(context),
    born,
    // An object from a backup adopts its resource again, and so comes before any object that claims it too.
    ...(!observed && context.status.id === undefined && { adoptedAt: new Date(platformNow).toISOString() }),
    ...(observed && isOthers(deps, context, { ...owned, born }) && { onlyObserved: true }),
    // Once the annotation is removed, "true" may be used again.
    lossAllowed: object.metadata.annotations?.[ALLOW_DATA_LOSS] === undefined ? undefined : context.status.lossAllowed,
    state: item?.state,
    fixed: fixedNow(context),
    secretName: note && publication?.name,
    ...(note && "serial" in note.key ? { certificate: note.key } : { key: note?.key }),
    expiresIn: note?.key.expiresAt && daysLeft(Date.parse(note.key.expiresAt), platformNow),
  };
  const basis = inputs ?? inputsOf(object, { parents: owned.parents, refs: {} });
  const given = { ...basis, ...(related && { related }), platformNow };
  const facts = item ? kind.resource.comparison.facts(item.raw, given) : readFacts(object);
  const { leftBehind, there } = leftBehindNow(deps, context);
  const advice = adviceFor(context, shared, there);
  const condition = obstacle ? conditionFor(obstacle) : ready;
  const changes = {
    ...known,
    request: undefined,
    notBefore: undefined,
    drift: drift?.length ? drift : undefined,
    leftBehind,
    advice: advice.length > 0 ? advice : undefined,
  };
  const shown = await record(deps, context, condition, changes, facts);
  if (!observed) shared.collection.untrack(identity);
  memory.failure = undefined;
  memory.accepted = undefined;
  memory.askedAt = undefined;
  if (memory.creation && isFinal(deps, memory.creation)) memory.creation = undefined;
  const isAnnotated = keep || annotateAt === undefined;
  memory.restingSince = isAnnotated ? undefined : (memory.restingSince ?? now);
  if (isMisnamed(shown) && keep) memory.renamed = nextAttempt(memory.renamed, EXTERNAL_ID, now);
  if (keep) await writeMetadata(deps, kind, shown, { claim: ownership(context) });
  const dueIn = [
    ...(isAnnotated ? [] : [annotateAt - now]),
    // An adoption of what was left behind enqueues nothing.
    ...(leftBehind ? [deps.settings.resyncMs] : []),
    ...secretsDueIn(deps, context),
    ...factsDueIn(deps, context, facts),
  ];
  return dueIn.length === 0 ? "never" : { inMs: Math.min(...dueIn), background: true };
}

/** When facts change by themselves, in milliseconds from now. The platform's clock may run differently: a long wait is checked in between. */
function factsDueIn({ settings }: Deps, { kind, view }: Context, facts: Shown): number[] {
  const at = kind.resource.comparison.changesAt?.(facts);
  return at === undefined ? [] : [Math.min(Math.max(0, at - view.times.platformNow), settings.resyncMs)];
}

/** When the key, the Secret, the output or the previous resource is due, in milliseconds from now. */
function secretsDueIn(deps: Deps, context: Context): number[] {
  const { settings } = deps;
  const { view, account } = context;
  const { secret, repair, output, keyDueAt } = view.secrets;
  const { now, platformNow } = view.times;
  const waits = [keyDueAt && keyDueAt - platformNow, previousLeftMs(deps, context, account)];
  return [
    // The platform's clock may run differently: a long wait is checked in between.
    ...waits.filter((ms) => ms !== undefined).map((ms) => Math.min(Math.max(0, ms), settings.resyncMs)),
    ...(typeof output === "object" ? [output.dueAt - now] : []),
    ...(secret === "unmarked" && repair ? [Math.max(0, repair.at - now)] : []),
  ];
}

/** Everything that status advises about the object. */
function adviceFor(context: Context, shared: Shared, left: LeftBehind[]): string[] {
  const { kind, desired, publication, inputs, memory, view } = context;
  const { observed } = view.spec;
  const { secret } = view.secrets;
  const advice = desired && inputs && !observed ? [...desired.advice(inputs), ...defaultAdvice(context, inputs)] : [];
  if (secret === "missing") advice.push(KEYLESS);
  if (secret === "unmarked" && publication) advice.push(...strippedAdvice(publication.name, memory.repair));
  if (memory.renewAfter !== undefined) advice.push(UNRENEWED);
  const unclaimed = memory.unclaimed?.filter((id) => shared.collection.read(id).item) ?? [];
  if (unclaimed.length > 0) advice.push(unclaimedAdvice(kind.kind, unclaimed));
  return [...advice, ...left.map((each) => leftAdvice(context, each))];
}

/** Spec asks for no resource, and there is none. */
export async function idle(deps: Deps, context: Context): Promise<Requeue> {
  const { kind, object, inputs, memory } = context;
  const ready = { mode: "ready", reason: "Available", message: `${kind.kind} is in effect` } as const;
  const facts = inputs ? kind.resource.comparison.facts(undefined, inputs) : readFacts(object);
  const changes = { fixed: fixedNow(context), request: undefined, advice: undefined, expiresIn: undefined };
  await record(deps, context, ready, changes, facts);
  memory.failure = undefined;
  return "never";
}

/** Whether an object that now only observes has lost its ownership: another object claims the resource, or may have its number. */
const isOthers = ({ objects }: Deps, { kind }: Context, claim: Claim): boolean =>
  objects.claimants(kind.kind, claim).length > 0 ||
  (claim.born === undefined && kind.resource.identity.reusesIds === true);

/** The creation date of the resource. An error here is ignored: a later pass reads it again. */
async function learntBirth({ shared, view }: Context, seen: { id: string; raw: unknown }) {
  if (!shared || view.spec.observed) return undefined;
  return confirmedBirth(shared, seen, readLimit()).catch((error: unknown) => {
    if (!(error instanceof PlatformError)) throw error;
    return undefined;
  });
}

/**
 * Records the fields that spec has stated since, and the catalogue entry that was looked up, so that it is not looked up
 * again until spec changes.
 */
function fixedNow(context: Context): ResourceStatus["fixed"] {
  const { kind, desired, inputs, status, view } = context;
  if (view.spec.observed) return status.fixed;
  const stated = withStated(context);
  if (!desired?.check || !inputs || view.spec.unchecked) return stated;
  return { ...stated, ...sources(kind, desired, inputs) };
}

const KEYLESS =
  "the key of an adopted resource cannot be read: set the annotation mooring.dev/rotate-at to create a new one; the current key then stops working";

function leftAdvice({ kind, desired, view }: Context, left: LeftBehind): string {
  const { id, parents } = left;
  const place = Object.entries(parents).map(([role, parent]) => {
    const reference = desired?.references.find((each) => each.role === role && (each.bond ?? "place") === "place");
    const isHere = view.resource.claim?.parents[role] === parent;
    const { target } = reference ?? {};
    if (!isHere || !target || !("name" in target)) return `${role}Id: ${parent}`;
    const { name, namespace } = target;
    return `${role}Ref: {name: ${name}${namespace === undefined ? "" : `, namespace: ${namespace}`}}`;
  });
  const spec = [...place, `externalId: ${id}`].join(", ");
  return `${left.kind} ${id} of the previous ${kind.kind} is still on the platform, and nothing uses it: create a ${left.kind} object with spec {${spec}} to keep it, or delete it on the platform, which loses its data; it is billed until then`;
}

/** The labels or the note of the Secret were changed. The key still works. */
function strippedAdvice(name: string, repair: Memory["repair"]): string[] {
  const what = `the labels and the annotation ${PUBLISHED} of Secret ${name}`;
  if (repair?.obstacle) return [`${what} were changed and cannot be put back: ${repair.obstacle.message}`];
  const way = "except the Secret from the admission hook or controller that does so";
  return repair && repair.times > 0 ? [`${what} are changed again after each write: ${way}`] : [];
}

const unclaimedAdvice = (kind: string, ids: readonly string[]): string =>
  `an interrupted creation may have left one of these ${kind}s, which nobody can use: ${several(ids)}; they expire by themselves`;

const UNRENEWED = "the certificate is due for renewal, but the platform has no newer one yet; retrying";
