import type { Deps } from "../../engine/observe/deps.ts";
import type { ObjectKey } from "../../engine/state/object.ts";
import { policiesOf } from "../../engine/state/policies.ts";
import { conditions, type ReadyState, readFacts, readStatus, readWhole, readyOf } from "../../engine/status/status.ts";
import { recordWarning } from "../../engine/write/warnings.ts";
import { writeStatus } from "../../engine/write/write.ts";
import type { Kind } from "../../kinds/kind.ts";
import { readExportSpec, readExportStatus } from "../../kinds/observability/activity-log-export.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { Piece } from "../../platform/activity/piece.ts";
import { begunAt, dueIn, type Line, type Progress } from "../../platform/activity/progress.ts";

/** One pass over one export. */
export interface Pass {
  key: ObjectKey;
  kind: Kind;
  object: KubeObject;
}

/** An export that is not so far behind is up to date. */
const CURRENT_MS = 300_000;
/** What has gone on without any entries is put on record so often. */
const RECORD_MS = 600_000;
/** A gap is told for so long. */
const TOLD_MS = 7 * 86_400_000;

/** Where the record says that an export is; without one, where it begins. */
export function progressOf(object: KubeObject, now: number): Progress {
  const { watermark } = readExportStatus(readWhole(object));
  if (!watermark) {
    const { from } = readExportSpec(object.spec);
    const born = Date.parse(object.metadata.creationTimestamp ?? "");
    // The platform may have another clock than the cluster; a time that is written in spec counts as it is.
    return begunAt(from === undefined ? Math.min(born || now, now) : Date.parse(from));
  }
  const { time, hours, recent = [] } = watermark;
  return {
    time: Date.parse(time),
    ...(hours && { hours: { from: Date.parse(hours.from), to: Date.parse(hours.to) } }),
    slices: recent.map(({ from, total, sketch }) => ({ from: Date.parse(from), total, sketch })),
  };
}

export const dateOf = (at: number): string => new Date(at).toISOString();

/** What the record says is being delivered. */
export function begunIn(object: KubeObject): Piece | undefined {
  const { begun } = readExportStatus(readWhole(object));
  return begun && { ...begun, from: Date.parse(begun.from), to: Date.parse(begun.to), at: Date.parse(begun.at) };
}

const recordOf = ({ time, hours, slices }: Progress) => ({
  time: dateOf(time),
  ...(hours && { hours: { from: dateOf(hours.from), to: dateOf(hours.to) } }),
  recent: slices.map(({ from, total, sketch }) => ({ from: dateOf(from), total, sketch })),
});

export type Gap = NonNullable<ReturnType<typeof readExportStatus>["lost"]>;

export const gapIn = ({ from, to }: Gap): string =>
  `entries from ${from} to ${to} are lost: the platform keeps 35 days; the export continues after the gap`;

function standingOf(progress: Progress, lost: Gap | undefined, now: number): ReadyState {
  if (dueIn(progress, now) === 0 && now - progress.time > CURRENT_MS) {
    return { mode: "reconciling", reason: "CatchingUp", message: "exporting entries of the past" };
  }
  if (lost && now - Date.parse(lost.noticedAt) < TOLD_MS) {
    return { mode: "ready", reason: "HistoryLost", message: gapIn(lost) };
  }
  return { mode: "ready", reason: "Available", message: "all entries are delivered, about a minute after their time" };
}

/** Whether there is anything to say although nothing was delivered. */
export function isWorthAWrite(
  object: KubeObject,
  recorded: string | undefined,
  progress: Progress,
  now: number,
): boolean {
  const { reason, observedGeneration } = readyOf(object) ?? {};
  const { lost } = readExportStatus(readWhole(object));
  const isNews =
    reason !== standingOf(progress, lost, now).reason || observedGeneration !== (object.metadata.generation ?? 1);
  if (isNews || recorded === undefined) return true;
  // Hours of the past without entries are quickly read once more.
  return progress.hours === undefined && progress.time - Date.parse(recorded) >= RECORD_MS;
}

/** Says how an export stands that goes on with what it has begun. */
export const restate = (deps: Deps, pass: Pass, progress: Progress, now: number): Promise<KubeObject> =>
  write(deps, pass, standingOf(progress, readExportStatus(readWhole(pass.object)).lost, now));

/** Puts on record how far the export is, what it is about to deliver, and what it has delivered. */
export async function record(
  deps: Deps,
  pass: Pass,
  {
    contract,
    now,
    progress,
    begun,
    delivered = [],
    lost,
  }: {
    contract: number;
    now: number;
    progress: Progress;
    begun?: Piece | undefined;
    delivered?: readonly Line[];
    lost?: Gap;
  },
): Promise<KubeObject> {
  const facts = readExportStatus(readWhole(pass.object));
  const gap = lost ?? facts.lost;
  const last = delivered.at(-1)?.time;
  const times = [...(facts.lastEntryTime ? [facts.lastEntryTime] : []), ...(last === undefined ? [] : [dateOf(last)])];
  const lastEntryTime = times.sort().at(-1);
  deps.memories.of(pass.key).exported = undefined;
  return write(deps, pass, standingOf(progress, gap, now), {
    contract,
    watermark: recordOf(progress),
    begun: begun && { ...begun, from: dateOf(begun.from), to: dateOf(begun.to), at: dateOf(begun.at) },
    entriesDelivered: (facts.entriesDelivered ?? 0) + delivered.length,
    ...(lastEntryTime !== undefined && { lastEntryTime }),
    ...(gap && { lost: gap }),
  });
}

export async function write(
  deps: Deps,
  { key, kind, object }: Pass,
  standing: ReadyState,
  changes: object = {},
): Promise<KubeObject> {
  deps.guard();
  const { account, contract } = readStatus(object);
  const { namespace = "", generation } = object.metadata;
  // Which Account is meant is settled with the first word about the object.
  const choice = deps.accounts.choose({ kind, namespace }, policiesOf(object).accountRef, account);
  const after = await writeStatus(deps, kind, object, {
    ...readFacts(object),
    account: choice.key ?? account,
    contract,
    ...changes,
    observedGeneration: generation,
    conditions: conditions(object, deps.clock.now(), standing),
  });
  recordWarning(deps, key, { before: object, after, standing });
  return after;
}
