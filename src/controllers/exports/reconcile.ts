import { obstacleFrom } from "../../engine/observe/platform-errors.ts";
import { isPaused } from "../../engine/state/annotations.ts";
import { policiesOf } from "../../engine/state/policies.ts";
import { needsPerson, type Obstacle, type Reason } from "../../engine/status/reasons.ts";
import { conditionFor, readStatus, readWhole } from "../../engine/status/status.ts";
import { unknownKey } from "../../engine/status/trust.ts";
import { type Pass, pause, postpone } from "../../engine/write/record.ts";
import { isAnnotatedAnew } from "../../engine/write/write.ts";
import { messageOf } from "../../kinds/fields/words-of-spec.ts";
import { readExportSpec, readExportStatus } from "../../kinds/observability/activity-log-export.ts";
import { isConflict, isNotFound } from "../../kube/client/errors.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { isRead } from "../../platform/activity/entry.ts";
import type { ActivityLog } from "../../platform/activity/export.ts";
import { activityContract } from "../../platform/activity/log.ts";
import { periodPage } from "../../platform/activity/period.ts";
import { begunAt, dueAt, type Progress, withHours } from "../../platform/activity/progress.ts";
import { provenTime } from "../../platform/activity/reached.ts";
import { RETENTION_MS } from "../../platform/activity/read.ts";
import { createReading, Unfinished } from "../../platform/activity/reading.ts";
import { timeText } from "../../platform/activity/written.ts";
import { Forbidden, PlatformError, Retry, Unauthorized } from "../../platform/answers/errors.ts";
import { openRoom } from "../../platform/answers/memory-budget.ts";
import { plainText } from "../../platform/answers/plain-text.ts";
import { platformTime, reachedTime } from "../../platform/calls/platform-time.ts";
import type { Destination } from "../../platform/export/destination.ts";
import { exportNext, NotDelivered, type Taken } from "../../platform/export/step.ts";
import { type DestinationDeps, destinationOf, type Export } from "./destinations.ts";
import { begunIn, gapIn, isWorthAWrite, NotWritten, progressOf, recordProgress, restate, write } from "./record.ts";

/**
 * Reconciles one ActivityLogExport: a pass delivers at most one window of the log, and records its progress once the
 * destination has it. It creates nothing on the platform, so there is nothing to undo when the object is deleted.
 */
export async function reconcileExport(deps: DestinationDeps, pass: Pass): Promise<Requeue> {
  const { key, object } = pass;
  const { namespace = "", deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined || deps.namespaces.isTerminating(namespace)) return "never";
  if (isPaused(object)) {
    deps.destinations.drop(key);
    return pause(deps, pass);
  }
  return proceed(deps, pass).catch((error: unknown) => showUnexpected(deps, pass, error));
}

async function proceed(deps: DestinationDeps, pass: Pass): Promise<Requeue> {
  const { key, kind, object } = pass;
  const { generation = 1, namespace = "" } = object.metadata;
  const status = readStatus(object);
  const { failure } = deps.memories.of(key);
  const waitMs = failure?.generation === generation ? failure.retryAt - deps.clock.monotonic() : 0;
  if (waitMs > 0) return { inMs: waitMs };
  if (unknownKey(object)) return halt(deps, pass, { reason: "SigningKeyUnknown", message: UNKNOWN_KEY });
  const parsed = kind.spec.safeParse(object.spec);
  if (!parsed.success) return halt(deps, pass, { reason: "InvalidSpec", message: messageOf(parsed.error) });
  const choice = deps.accounts.choose({ kind, namespace }, policiesOf(object).accountRef, status.account);
  if ("obstacle" in choice) {
    // The check of the Account wakes the object.
    return choice.obstacle.reason === "Observing" ? "never" : halt(deps, pass, choice.obstacle);
  }
  const { account } = choice;
  const found = await destinationOf(deps, { ...pass, account }, readExportSpec(object.spec));
  if ("obstacle" in found) {
    // Only Secrets are not watched: every other change wakes the object.
    const { obstacle } = found;
    deps.destinations.drop(key);
    return ABOUT_SECRETS.has(obstacle.reason) ? fail(deps, pass, obstacle) : halt(deps, pass, obstacle);
  }
  try {
    const again = await carryOn(deps, { ...pass, account }, found.value);
    deps.memories.of(key).failure = undefined;
    return again;
  } catch (error) {
    const delivering = error instanceof NotDelivered;
    const trouble = delivering ? error.cause : error;
    if (!(trouble instanceof PlatformError)) throw error;
    if (!delivering && trouble instanceof Unauthorized) deps.suspect(account.key);
    const afterMs = trouble instanceof Retry ? trouble.afterMs : undefined;
    return fail(deps, asWritten(deps, pass), delivering ? refusedBy(trouble) : unreadable(trouble), afterMs);
  }
}

const ABOUT_SECRETS: ReadonlySet<Reason> = new Set(["SecretNotFound", "DestinationRefused"]);

/**
 * Shows an error that nothing expects in Ready, whichever step it ended, and rejects with it: the queue logs it and tries again.
 * A write of the status that failed is not shown, because it would be written to the same place.
 */
async function showUnexpected(deps: DestinationDeps, pass: Pass, error: unknown): Promise<never> {
  if (error instanceof NotWritten) throw error.cause;
  // Another client wrote first, or this process may no longer write.
  if (isConflict(error) || isNotFound(error)) throw error;
  deps.guard();
  const { reason, message } = obstacleFrom(error);
  const obstacle = { reason, message: `the export failed and is tried again: ${plainText(message)}` };
  await write(deps, asWritten(deps, pass), conditionFor(obstacle)).catch(() => {});
  throw error;
}

/** The pass with the object as it was last written. */
const asWritten = ({ objects }: DestinationDeps, pass: Pass): Pass => ({
  ...pass,
  object: objects.find(pass.key)?.object ?? pass.object,
});

/** Nobody waits for it, and it ends before the deadline of the pass. */
const READING = { priority: "background", patienceMs: 20_000 } as const;

const SOON: Requeue = { inMs: 0, background: true };

async function carryOn(deps: DestinationDeps, pass: Export, to: Destination): Promise<Requeue> {
  const { key, object, account } = pass;
  const { connection } = account;
  const api = account.endpoint("api");
  const contract = connection.contractNumber ?? (await activityContract(connection, api, READING));
  const { contract: before } = readStatus(object);
  if (before !== undefined && before !== contract) {
    const message = `the log of contract ${before} was exported, but the Account uses contract ${contract}: restore its previous token, or create a new ActivityLogExport`;
    return halt(deps, pass, { reason: "ContractChanged", message });
  }
  const reached = reachedTime(deps.clock, connection);
  const { exported } = deps.memories.of(key);
  const recorded = recordedTime(object);
  const progress = (exported?.recorded === recorded ? exported?.progress : undefined) ?? progressOf(object, reached);
  const oldest = reached - RETENTION_MS;
  if (progress.time < oldest) return lose(deps, pass, progress, { contract, oldest, now: reached });
  const page: ActivityLog["page"] = (time, offset, limit) =>
    periodPage(deps.clock, connection, api, { contract, time, offset, limit }, READING);
  const estimated = platformTime(deps.clock, connection);
  const now = await provenTime({ page }, dueAt(progress), { reached, estimated });
  const prepared = begunIn(object) ? progress : withHours(progress, now);
  if (prepared !== progress) {
    await recordProgress(deps, pass, { contract, now, progress: prepared });
    return SOON;
  }

  const of = [object.metadata.uid, contract, progress.time].join();
  const anew = () => createReading({ of, at: now }, openRoom(connection.memory, connection.id));
  const reading = deps.destinations.reading(key, of, anew);
  const begun = reading.begin({ clock: deps.clock, page });
  const log = { ...begun, ...(readExportSpec(object.spec).reads === "Exclude" && { leavesOut: isRead }) };
  // Each write is on top of the last one of this pass: a process that no longer leads gets a conflict.
  let current = object;
  const save = async (next: Progress, more = {}) => {
    current = await recordProgress(deps, { ...pass, object: current }, { contract, now, progress: next, ...more });
    deps.memories.of(key).taken = undefined;
  };
  const note = async (next: Progress) => {
    if (isWorthAWrite(object, recorded, next, now) || isAnnotatedAnew(pass.kind, object)) await save(next);
    else deps.memories.of(key).exported = { recorded, progress: next };
  };
  let isKept = false;
  try {
    const memory = deps.memories.of(key);
    const keep = (taken: Taken) => {
      memory.taken = taken;
    };
    const times = { now, estimated, readAt: reading.at };
    const step = { progress, begun: begunIn(object), taken: memory.taken, ...times, log, to, record: save, keep, note };
    return { inMs: await exportNext(step), background: true };
  } catch (error) {
    isKept = log.isResumable(error);
    if (!(error instanceof Unfinished)) throw error;
    // The condition of an earlier pass may be outdated.
    await restate(deps, asWritten(deps, pass), progress, now);
    return SOON;
  } finally {
    deps.destinations.settle(key, reading, isKept);
  }
}

const recordedTime = (object: KubeObject) => readExportStatus(readWhole(object)).watermark?.time;

/** The platform has deleted the next entries: says which time is lost, and goes on after it. */
async function lose(
  deps: DestinationDeps,
  pass: Pass,
  progress: Progress,
  { contract, oldest, now }: { contract: number; oldest: number; now: number },
): Promise<Requeue> {
  const next = begunAt(oldest + 120_000);
  const { lost } = readExportStatus(readWhole(pass.object));
  const from = lost && Date.parse(lost.to) >= progress.time ? lost.from : timeText(progress.time);
  const gap = { from, to: timeText(next.time), noticedAt: timeText(now) };
  const written = await recordProgress(deps, pass, { contract, now, progress: next, lost: gap });
  deps.events.record(written, "Warning", "HistoryLost", gapIn(gap));
  return { inMs: 0 };
}

const UNKNOWN_KEY =
  "the progress of the export is signed with a key that this operator does not have: restore Secret mooring-signing-key, or create a new ActivityLogExport, which begins at spec.from";

/** Waits: the change that it needs wakes the object. */
async function halt(deps: DestinationDeps, pass: Pass, obstacle: Obstacle): Promise<Requeue> {
  deps.destinations.drop(pass.key);
  // A new object usually waits for one of the same `kubectl apply`.
  const { desired } = deps.memories.of(pass.key);
  const youngMs = (desired?.at ?? 0) + deps.settings.graceMs - deps.clock.monotonic();
  if (youngMs > 0 && !needsPerson(obstacle.reason)) return { inMs: youngMs };
  await write(deps, pass, conditionFor(obstacle));
  return "never";
}

/** Tries again after a pause, which grows. */
async function fail(deps: DestinationDeps, pass: Pass, obstacle: Obstacle, afterMs?: number): Promise<Requeue> {
  const memory = deps.memories.of(pass.key);
  const { inMs, message } = postpone(deps, { memory, object: pass.object }, obstacle, afterMs);
  await write(deps, pass, conditionFor({ ...obstacle, message }));
  return { inMs };
}

function unreadable(error: PlatformError): Obstacle {
  const { reason, message } = obstacleFrom(error);
  // The Account deals with a refused credential.
  if (error instanceof Unauthorized) return { reason: "AccountNotReady", message };
  const needed =
    error instanceof Forbidden && !message.includes(PRIVILEGE) ? `: the privilege ${PRIVILEGE} is needed` : "";
  return { reason, message: `${message}${needed}` };
}

const PRIVILEGE = "ACCESS_ACTIVITY_LOG";

function refusedBy(error: PlatformError): Obstacle {
  const { message } = error;
  if (!(error instanceof Retry)) return { reason: "DestinationRefused", message: `destination: ${message}` };
  return { reason: error.status === 429 ? "RateLimited" : "DestinationUnavailable", message };
}
