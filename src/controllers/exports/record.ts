import type { Deps } from "../../engine/observe/deps.ts";
import { policiesOf } from "../../engine/state/policies.ts";
import { type ReadyState, readStatus, readWhole, readyOf } from "../../engine/status/status.ts";
import { type Pass, show } from "../../engine/write/record.ts";
import { readExportSpec, readExportStatus } from "../../kinds/observability/activity-log-export.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { Piece } from "../../platform/activity/piece.ts";
import { begunAt, dueIn, type Line, type Progress } from "../../platform/activity/progress.ts";
import { readPiece, readProgress, timeText, writtenPiece, writtenProgress } from "../../platform/activity/written.ts";

/** An export that is less far behind is up to date. */
const CURRENT_MS = 300_000;
/** Progress without entries is recorded at this interval. */
const RECORD_MS = 600_000;
/** Status reports a gap for this long. */
const TOLD_MS = 7 * 86_400_000;

/** The recorded progress of an export; without a record, where it begins. */
export function progressOf(object: KubeObject, now: number): Progress {
  const { watermark } = readExportStatus(readWhole(object));
  if (watermark) return readProgress(watermark);
  const { from } = readExportSpec(object.spec);
  const born = Date.parse(object.metadata.creationTimestamp ?? "");
  // The platform may have another clock than the cluster; a time that is written in spec counts as it is.
  return begunAt(from === undefined ? Math.min(born || now, now) : Date.parse(from));
}

/** The delivery that is on record as begun. */
export function begunIn(object: KubeObject): Piece | undefined {
  const { begun } = readExportStatus(readWhole(object));
  return begun && readPiece(begun);
}

export type Gap = NonNullable<ReturnType<typeof readExportStatus>["lost"]>;

export const gapIn = ({ from, to }: Gap): string =>
  `entries from ${from} to ${to} are lost: the platform keeps 35 days; the export continues after the gap`;

function conditionOf(progress: Progress, lost: Gap | undefined, now: number): ReadyState {
  if (dueIn(progress, now) === 0 && now - progress.time > CURRENT_MS) {
    return { mode: "reconciling", reason: "CatchingUp", message: "exporting entries of the past" };
  }
  if (lost && now - Date.parse(lost.noticedAt) < TOLD_MS) {
    return { mode: "ready", reason: "HistoryLost", message: gapIn(lost) };
  }
  return { mode: "ready", reason: "Available", message: "all entries are delivered, about a minute after their time" };
}

export function isWorthAWrite(object: KubeObject, recorded: string | undefined, progress: Progress, now: number) {
  const { reason, observedGeneration } = readyOf(object) ?? {};
  const { lost } = readExportStatus(readWhole(object));
  const isNews =
    reason !== conditionOf(progress, lost, now).reason || observedGeneration !== (object.metadata.generation ?? 1);
  if (isNews || recorded === undefined) return true;
  // Hours of the past without entries are quickly read once more.
  return progress.hours === undefined && progress.time - Date.parse(recorded) >= RECORD_MS;
}

/** Writes the Ready condition of an export that goes on with what it has begun. */
export const restate = (deps: Deps, pass: Pass, progress: Progress, now: number): Promise<KubeObject> =>
  write(deps, pass, conditionOf(progress, readExportStatus(readWhole(pass.object)).lost, now));

interface Entry {
  contract: number;
  now: number;
  progress: Progress;
  begun?: Piece | undefined;
  delivered?: readonly Line[];
  lost?: Gap;
}

/** Records the progress of an export, what it is about to deliver, and what it has delivered. */
export async function recordProgress(deps: Deps, pass: Pass, entry: Entry): Promise<KubeObject> {
  const { contract, now, progress, begun, delivered = [], lost } = entry;
  const facts = readExportStatus(readWhole(pass.object));
  const gap = lost ?? facts.lost;
  const times = [facts.lastEntryTime ?? [], delivered.slice(-1).map(({ time }) => timeText(time))].flat();
  const lastEntryTime = times.sort().at(-1);
  deps.memories.of(pass.key).exported = undefined;
  return write(deps, pass, conditionOf(progress, gap, now), {
    contract,
    watermark: writtenProgress(progress),
    begun: begun && writtenPiece(begun),
    entriesDelivered: (facts.entriesDelivered ?? 0) + delivered.length,
    ...(lastEntryTime !== undefined && { lastEntryTime }),
    ...(gap && { lost: gap }),
  });
}

/** The status of an export could not be written; `cause` says why. */
export class NotWritten extends Error {
  constructor(cause: unknown) {
    super("the status was not written", { cause });
  }
}

/** Writes the Ready condition of an export, and what has changed in its record. Rejects only with `NotWritten`. */
export async function write(deps: Deps, pass: Pass, condition: ReadyState, changes: object = {}): Promise<KubeObject> {
  const { kind, object } = pass;
  const { account } = readStatus(object);
  // The Account is chosen with the first status, and kept.
  const user = { kind, namespace: object.metadata.namespace ?? "" };
  const { key = account } = deps.accounts.choose(user, policiesOf(object).accountRef, account);
  return show(deps, pass, condition, { account: key, ...changes }).catch((error: unknown) => {
    throw new NotWritten(error);
  });
}
