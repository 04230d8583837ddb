import { stepAside } from "../../aside.ts";
import type { Kind } from "../../kinds/kind.ts";
import { readExportSpec, readExportStatus } from "../../kinds/observability/activity-log-export.ts";
import type { Again } from "../../kube/queue/work.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { readLate, readPeriod, readWindow, type Window } from "../../platform/activity/export.ts";
import { activityContract, activityPage } from "../../platform/activity/log.ts";
import { linesOf, type Piece, pieceOf } from "../../platform/activity/piece.ts";
import {
  advanced,
  begunAt,
  dueIn,
  type Line,
  nextPeriod,
  type Progress,
  reset,
  withHours,
} from "../../platform/activity/progress.ts";
import { RETENTION_MS } from "../../platform/activity/read.ts";
import { createReading, type Reading, type Turn, Unfinished } from "../../platform/activity/reading.ts";
import { Forbidden, PlatformError, Retry, Unauthorized } from "../../platform/answers/errors.ts";
import { openRoom } from "../../platform/answers/ledger.ts";
import type { Destination } from "../../platform/export/destination.ts";
import type { AccountHandle } from "../accounts/accounts.ts";
import { messageOf } from "../look/obstacles.ts";
import { obstacleOf } from "../look/problems.ts";
import { isPaused, type ObjectKey } from "../objects/object.ts";
import { policiesOf } from "../objects/policies.ts";
import { postpone } from "../record/record.ts";
import { writeStatus } from "../record/write.ts";
import { needsPerson, type Obstacle } from "../schema/reasons.ts";
import { paused, readFacts, readStatus, readWhole, type Standing } from "../schema/status.ts";
import { type DestinationDeps, destinationOf } from "./destinations.ts";
import {
  begunIn,
  dateOf,
  gapIn,
  isWorthAWrite,
  type Pass,
  progressOf,
  record,
  restate,
  write,
} from "./export-record.ts";

/**
 * Keeps one ActivityLogExport going: a pass delivers one window of the log at most, and puts on record how far it is once the
 * destination has it. It makes nothing on the platform, so there is nothing to undo when the object goes.
 */
export async function reconcileExport(
  deps: DestinationDeps,
  key: ObjectKey,
  kind: Kind,
  object: KubeObject,
): Promise<Again> {
  const { generation = 1, namespace = "", deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined || deps.namespaces.isTerminating(namespace)) return "never";
  const status = readStatus(object);
  if (isPaused(object)) {
    deps.outlets.drop(key);
    deps.guard();
    await writeStatus(deps, kind, object, {
      ...readFacts(object),
      ...status,
      conditions: paused(object, deps.clock.now()),
    });
    return "never";
  }
  const { failure } = deps.memories.of(key);
  const waitMs = failure?.generation === generation ? failure.retryAt - deps.clock.monotonic() : 0;
  if (waitMs > 0) return { inMs: waitMs };
  const pass = { key, kind, object };
  const parsed = kind.spec.safeParse(object.spec);
  if (!parsed.success) return halt(deps, pass, { reason: "InvalidSpec", message: messageOf(parsed.error) });
  const choice = deps.accounts.choose({ kind, namespace }, policiesOf(object).accountRef, status.account);
  if ("obstacle" in choice) {
    // Not looked at yet is no news: whoever waits for the Account is told when it is.
    return choice.obstacle.reason === "Observing" ? "never" : halt(deps, pass, choice.obstacle);
  }
  const { account } = choice;
  const found = await destinationOf(deps, { key, object, account }, readExportSpec(object.spec));
  if ("obstacle" in found) {
    // Nobody tells when a Secret comes; of everything else the change is noticed.
    const { obstacle } = found;
    deps.outlets.drop(key);
    return obstacle.reason === "SecretNotFound" ? fail(deps, pass, obstacle) : halt(deps, pass, obstacle);
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

/** A window could not be delivered. */
class NotDelivered extends Error {
  override readonly cause: PlatformError;
  constructor(cause: PlatformError) {
    super(cause.message);
    this.cause = cause;
  }
}

/** With the object as this pass has written it. */
const asWritten = ({ objects }: DestinationDeps, pass: Pass): Pass => ({
  ...pass,
  object: objects.find(pass.key)?.object ?? pass.object,
});

/** Nobody waits for it. With what a turn may take before, it ends before the pass does. */
const READING = { priority: "background", patienceMs: 20_000 } as const;

/** An export in one pass: where it is, what it reads and where it delivers. */
interface Run extends Pass {
  deps: DestinationDeps;
  contract: number;
  now: number;
  progress: Progress;
  reading: Reading;
  log: Turn;
  to: Destination;
}

const SOON: Again = { inMs: 0, background: true };

async function carryOn(
  deps: DestinationDeps,
  pass: Pass & { account: AccountHandle },
  to: Destination,
): Promise<Again> {
  const { key, object, account } = pass;
  const { connection } = account;
  const api = account.endpoint("api");
  const contract = connection.contractNumber ?? (await activityContract(connection, api, READING));
  const { contract: before } = readStatus(object);
  if (before !== undefined && before !== contract) {
    const message = `the log of contract ${before} was exported, but the Account uses contract ${contract}: restore its previous token, or create a new ActivityLogExport`;
    return halt(deps, pass, { reason: "ContractChanged", message });
  }
  const now = deps.clock.now() + (connection.aheadMs ?? 0);
  const { exported } = deps.memories.of(key);
  const recorded = recordedTime(object);
  const progress = (exported?.recorded === recorded ? exported?.progress : undefined) ?? progressOf(object, now);
  const oldest = now - RETENTION_MS;
  if (progress.time < oldest) return lose(deps, pass, progress, { contract, oldest, now });
  const begun = begunIn(object);
  const prepared = begun ? progress : withHours(progress, now);
  if (prepared !== progress) {
    await record(deps, pass, { contract, now, progress: prepared });
    return SOON;
  }

  const of = [object.metadata.uid, contract, progress.time].join();
  const { readings } = deps.outlets;
  const known = readings.get(key);
  const reading = known?.of === of ? known : createReading({ of, at: now }, openRoom(connection.ledger, connection.id));
  const log = reading.begin({
    clock: deps.clock,
    async page(time, offset, limit) {
      const comeBack = stepAside();
      return activityPage(connection, api, { contract, time, offset, limit }, READING).finally(comeBack);
    },
  });
  const run = { ...pass, deps, contract, now, progress, reading, log, to };
  let isKept = false;
  try {
    return await (begun ? resume(run, begun) : proceed(run));
  } catch (error) {
    isKept = log.isResumable(error);
    if (!(error instanceof Unfinished)) throw error;
    // What an earlier pass has said may not be true any more.
    await restate(deps, asWritten(deps, pass), progress, now);
    return SOON;
  } finally {
    if (known !== reading || !isKept) deps.outlets.drop(key);
    if (isKept) readings.set(key, reading);
    else reading.close();
  }
}

const recordedTime = (object: KubeObject) => readExportStatus(readWhole(object)).watermark?.time;

/** What came late goes before what is next; a pass delivers one of them at most. */
async function proceed(run: Run): Promise<Again> {
  const { deps, key, object, contract, now, progress, log, to } = run;
  const { late, slices } = await readLate(log, progress);
  const checked = { ...progress, slices };
  if (late) return begin(run, checked, late);
  const recorded = recordedTime(object);
  const save = (next: Progress) => record(deps, run, { contract, now, progress: next });
  const dueMs = dueIn(checked, now);
  if (dueMs > 0) {
    await (isWorthAWrite(object, recorded, checked, now) ? save(checked) : undefined);
    return { inMs: Math.max(1000, Math.min(dueMs, 60_000)), background: true };
  }
  const window = await readWindow(log, nextPeriod(checked), to.most);
  if (window.lines.length > 0) return begin(run, checked, window);
  const next = advanced(checked, window, run.reading.at);
  if (isWorthAWrite(object, recorded, next, now)) await save(next);
  else deps.memories.of(key).exported = { recorded, progress: next };
  return SOON;
}

/** Puts on record what is about to be delivered, and delivers it. */
async function begin(run: Run, progress: Progress, window: Window): Promise<Again> {
  const { deps, contract, now, reading } = run;
  const begun = pieceOf(window, reading.at);
  const object = await record(deps, run, { contract, now, progress, begun });
  return finish({ ...run, object, progress }, begun, window.lines);
}

/** Delivers what is on record as begun: the same entries, whatever has come late to their time. */
async function resume(run: Run, begun: Piece): Promise<Again> {
  const { deps, contract, now, progress, log } = run;
  const { from, to } = begun;
  const all = await readPeriod(log, { from, to });
  const again = linesOf(begun, all.lines, now);
  if (again === "hidden") throw hiddenFrom(begun);
  if (again !== "unknown") return finish(run, begun, again.lines);
  const slices = from < progress.time ? reset(progress.slices, from) : progress.slices;
  await record(deps, run, { contract, now, progress: { ...progress, slices } });
  return SOON;
}

const hiddenFrom = ({ from, to }: Piece) => {
  const detail = `the log does not show all entries that it had before, from ${dateOf(from)} to ${dateOf(to)}`;
  return new Retry({ call: "GET /activitylog/v1/contracts", status: 200, detail }, "no");
};

async function finish(run: Run, begun: Piece, lines: Line[]): Promise<Again> {
  const { deps, contract, now, progress, log, to } = run;
  log.check();
  const delivered = { period: { from: begun.from, to: begun.to }, total: begun.total, lines };
  await deliver(to, delivered);
  const next = advanced(progress, delivered, begun.at);
  await record(deps, run, { contract, now, progress: next, delivered: lines });
  return SOON;
}

async function deliver(to: Destination, window: Window): Promise<void> {
  try {
    await to.deliver(window);
  } catch (error) {
    throw error instanceof PlatformError ? new NotDelivered(error) : error;
  }
}

/** The platform has deleted what is next: says which time that is, and goes on behind it. */
async function lose(
  deps: DestinationDeps,
  pass: Pass,
  progress: Progress,
  { contract, oldest, now }: { contract: number; oldest: number; now: number },
): Promise<Again> {
  const next = begunAt(oldest + 120_000);
  const { lost } = readExportStatus(readWhole(pass.object));
  const from = lost && Date.parse(lost.to) >= progress.time ? lost.from : dateOf(progress.time);
  const gap = { from, to: dateOf(next.time), noticedAt: dateOf(now) };
  const written = await record(deps, pass, { contract, now, progress: next, lost: gap });
  deps.events.record(written, "Warning", "HistoryLost", gapIn(gap));
  return { inMs: 0 };
}

const standingFor = ({ reason, message }: Obstacle): Standing => ({
  mode: needsPerson(reason) ? "stalled" : "reconciling",
  reason,
  message,
});

/** Waits for somebody, or for what others are about to bring: whatever changes has it looked at again. */
async function halt(deps: DestinationDeps, pass: Pass, obstacle: Obstacle): Promise<Again> {
  deps.outlets.drop(pass.key);
  // What a young object waits for usually comes in the same `kubectl apply`.
  const { wish } = deps.memories.of(pass.key);
  const youngMs = (wish?.at ?? 0) + deps.settings.graceMs - deps.clock.monotonic();
  if (youngMs > 0 && !needsPerson(obstacle.reason)) return { inMs: youngMs };
  await write(deps, pass, standingFor(obstacle));
  return "never";
}

/** Tries again after a pause, which grows. */
async function fail(deps: DestinationDeps, pass: Pass, obstacle: Obstacle, afterMs?: number): Promise<Again> {
  const memory = deps.memories.of(pass.key);
  const { inMs, message } = postpone(deps, { memory, object: pass.object }, obstacle, afterMs);
  await write(deps, pass, standingFor({ ...obstacle, message }));
  return { inMs };
}

/** Why the log cannot be read. */
function unreadable(error: PlatformError): Obstacle {
  const { reason, message } = obstacleOf(error);
  // A credential that is refused is the Account's trouble, and waits for it.
  if (error instanceof Unauthorized) return { reason: "AccountNotReady", message };
  const needed =
    error instanceof Forbidden && !message.includes(PRIVILEGE) ? `: the privilege ${PRIVILEGE} is needed` : "";
  return { reason, message: `${message}${needed}` };
}

const PRIVILEGE = "ACCESS_ACTIVITY_LOG";

/** Why the destination does not take a window. */
function refusedBy(error: PlatformError): Obstacle {
  const { message } = error;
  if (!(error instanceof Retry)) return { reason: "DestinationRefused", message };
  return { reason: error.status === 429 ? "RateLimited" : "DestinationUnavailable", message };
}
