import { NotWritable } from "../../kube/client/errors.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import { PlatformError } from "../../platform/answers/errors.ts";
import { reachedTime } from "../../platform/calls/platform-time.ts";
import type { Decision, Step } from "../decide/decision.ts";
import type { Deps } from "../observe/deps.ts";
import { leavingBehind } from "../observe/resource/left-behind.ts";
import { unresolved } from "../observe/spec/references.ts";
import type { Context } from "../observe/view.ts";
import { fetchCertificate } from "../secrets/certificate-secret.ts";
import { deliver, republish } from "../secrets/keys.ts";
import { writeOutput } from "../secrets/output.ts";
import { EXTERNAL_ID, FINALIZER } from "../state/names.ts";
import { policiesOf } from "../state/policies.ts";
import type { ReadyState } from "../status/status.ts";
import { countedAnnotation } from "../status/trust.ts";
import {
  driftSeen,
  ownership,
  pause,
  postpone,
  record,
  recordFailure,
  recordPlatformError,
  refreshed,
  stall,
  withWritten,
} from "../write/record.ts";
import { release, writeMetadata } from "../write/write.ts";
import { adopt } from "./adopt.ts";
import { remove, renewKey, revoke, update } from "./change.ts";
import { confirm, inspect, READ_MS } from "./confirm.ts";
import { create } from "./create.ts";
import { check } from "./lookups.ts";
import { searchFor, takeOver } from "./recover.ts";
import { recall, retract, shortLeftMs } from "./request-record.ts";
import { idle, rest } from "./up-to-date.ts";

/** Executes one step, and records its outcome or the error of the platform. */
export async function execute(deps: Deps, context: Context, decision: Decision): Promise<Requeue> {
  const { memory, view } = context;
  const { observation, search } = view.resource;
  if (observation.seen === "present") {
    memory.absence = undefined;
    memory.refusedSince = observation.refused?.since;
    // The log is searched from here on, so the earlier of both clocks counts.
    memory.seenAt = reachedTime(deps.clock, context.account?.connection) - (view.times.now - observation.asOf);
  }
  // Kept for the advice in status: the next intent replaces this search.
  if (search && search.matches.length > search.rivals) memory.unclaimed = search.matches;
  try {
    return await perform(deps, context, decision);
  } catch (error) {
    if (error instanceof PlatformError) return recordPlatformError(deps, context, error);
    if (error instanceof NotWritable) {
      return recordFailure(deps, refreshed(deps, context), { reason: "ObjectNotWritable", message: error.why });
    }
    throw error;
  }
}

const perform = <S extends Step>(deps: Deps, context: Context, decision: Decision<S>): Promise<Requeue> =>
  steps[decision.step](deps, context, decision);

const steps: { readonly [S in Step]: (deps: Deps, context: Context, decision: Decision<S>) => Promise<Requeue> } = {
  ignore: async () => "never",
  rest: (deps, context, { keep = false, obstacle }) => rest(deps, context, keep, obstacle),
  pause,
  wait,
  stall: stallOn,
  fail,
  create,
  search: searchFor,
  check,
  idle,
  adopt: (deps, context, { id }) => adopt(deps, context, id),
  inspect,
  claim: (deps, context, { identity }) => takeOver(deps, context, identity),
  mark,
  forget,
  update: (deps, context, { operation }) => update(deps, context, operation),
  renew(deps, context) {
    if (context.view.resource.successive) return create(deps, context);
    return context.kind.resource.secret?.certificate ? fetchCertificate(deps, context) : renewKey(deps, context);
  },
  revoke,
  publish: republish,
  output: writeOutput,
  recall,
  retract,
  deliver,
  delete: (deps, context, { action }) => remove(deps, context, action),
  async release(deps, { key, kind, object }, { reason, message }) {
    await release(deps, kind, object);
    deps.log.info({ object: key, reason, message }, "object released");
    deps.events.record(object, "Normal", reason, message);
    return "never";
  },
};

async function wait(deps: Deps, context: Context, decision: Decision<"wait">): Promise<Requeue> {
  const { shared, identity } = context;
  const { reason, message, read } = decision;
  const { previous } = context.view.secrets;
  if (read === "list") shared?.collection.refresh([identity]);
  if (read === "member") await confirm(deps, context);
  // The answer to a read may be lost: the object rechecks by itself.
  const recheckMs = decision.recheckMs ?? (read && (read === "list" ? LISTED_MS : READ_MS));
  const again: Requeue = recheckMs === undefined ? "never" : { inMs: recheckMs };
  const shortMs = shortLeftMs(deps, context);
  if (reason === "Deleting" && shortMs > 0) return { inMs: Math.min(recheckMs ?? shortMs, shortMs) };
  // Until the platform is read, the current status is the best that is known.
  if (reason === "Observing") return again;
  // The previous key works until the new one is there: the object stays Ready.
  if (reason === "Creating" && previous && !previous.isOver) return again;
  const { drift } = driftSeen(context);
  await record(deps, context, { mode: "reconciling", reason, message }, drift?.length ? { drift } : {});
  return again;
}

/** Recheck interval after a list was asked for. Usually the collection enqueues the object earlier. */
const LISTED_MS = 10_000;

async function stallOn(deps: Deps, context: Context, decision: Decision<"stall">): Promise<Requeue> {
  const { reason, message, read, recheckMs } = decision;
  const { request, observation } = context.view.resource;
  if (read) await confirm(deps, context);
  // A request is over when its resource is seen at rest, whatever else is wrong.
  const isOver = request && observation.seen === "present" && !observation.busy && observation.asOf > request.since;
  const gone = observation.seen === "absent" && { state: undefined, advice: undefined };
  await stall(deps, context, { reason, message }, { ...(isOver && { request: undefined }), ...gone });
  return recheckMs === undefined ? "never" : { inMs: recheckMs };
}

async function fail(deps: Deps, context: Context, decision: Decision<"fail">): Promise<Requeue> {
  const { request } = context.status;
  // The backoff of a failure replaces that of an accepted write.
  context.memory.accepted = undefined;
  const gone = decision.gone && withoutResource(context);
  const changes = { request: request && { ...request, status: "FAILED" as const }, ...gone };
  const { inMs, message } = postpone(deps, context, decision);
  await stall(deps, context, { reason: decision.reason, message }, changes);
  if (decision.gone) {
    deps.collections.leave(context.key);
    context.memory.absence = undefined;
  }
  return { inMs };
}

/** Puts back the finalizer and the annotation of the intent or claim. */
async function mark(deps: Deps, context: Context): Promise<Requeue> {
  const { kind, object, view } = context;
  const { intent } = view.resource;
  deps.guard();
  const marks = intent ? { intent } : { claim: ownership(context) };
  const { metadata } = await writeMetadata(deps, kind, object, marks);
  return metadata.finalizers?.includes(FINALIZER) ? "now" : "backoff";
}

/** The resource is gone, was deleted for its replacement, or is no longer wanted. */
async function forget(deps: Deps, context: Context): Promise<Requeue> {
  const { kind, object, view } = context;
  const { claim, observation, request } = view.resource;
  const id = claim?.id;
  const isKept = observation.seen === "present";
  const replaced = isKept || request?.action === "replace";
  const { deletion } = observation.seen === "absent" ? observation : {};
  const lost = deletion === undefined ? "is no longer on the platform" : `was deleted ${deletion}`;
  const refused = isKept ? observation.refused?.why : undefined;
  const past = replaced ? `is ${isKept ? "kept" : "deleted"}` : lost;
  const obstacle = unresolved(deps.objects, context);
  const creation = replaced ? "creating the replacement" : "creating it again";
  const next = obstacle === undefined ? creation : `${creation} has to wait: ${obstacle.message}`;
  const message = refused ?? `${kind.kind} ${id} ${past}; ${view.spec.unwanted ? "spec asks for none" : next}`;
  const reason = refused === undefined ? (replaced ? "Replacing" : "Vanished") : "AlreadyExists";
  const condition: ReadyState = { mode: "reconciling", reason, message };
  // The annotation must not bring back the id.
  const isAnnotated = countedAnnotation(object, EXTERNAL_ID) !== undefined;
  const after = isAnnotated ? withWritten(context, await writeMetadata(deps, kind, object)) : context;
  const leftBehind = isKept ? context.status.leftBehind : leavingBehind(deps, context, replaced);
  const former = { left: id, leftExternalId: policiesOf(object).externalId, leftBehind, refused: refused && id };
  const ended = { request: undefined, drift: undefined };
  await record(deps, after, condition, { ...withoutResource(context), ...former, ...ended });
  deps.events.record(after.object, reason === "Replacing" ? "Normal" : "Warning", reason, message);
  deps.collections.leave(context.key);
  context.memory.absence = undefined;
  context.memory.goneAt = deps.clock.monotonic();
  return "now";
}

/** The status of an object without a resource. Its revision outdates every earlier status. */
const withoutResource = ({ view }: Context) => ({
  revision: (view.resource.claim?.revision ?? 0) + 1,
  id: undefined,
  state: undefined,
  parents: undefined,
  born: undefined,
  notBefore: undefined,
  adoptedAt: undefined,
  onlyObserved: undefined,
  endpoint: undefined,
  fixed: undefined,
  secretName: undefined,
  key: undefined,
  certificate: undefined,
  expiresIn: undefined,
});
