import type { KubeObject } from "../../kube/resource.ts";
import type { Deps } from "../observe/deps.ts";
import type { ObjectKey } from "../state/object.ts";
import type { Reason } from "../status/reasons.ts";
import { type ReadyState, readyOf } from "../status/status.ts";

/** Reasons that usually need a person although the object is not stalled, and how long they must last before an Event. */
const PATIENCE_MS: { readonly [R in Reason]?: number } = {
  ReferenceNotFound: 0,
  AccountNotFound: 0,
  SecretNotFound: 0,
  PlatformUnavailable: 60_000,
  DestinationUnavailable: 60_000,
};

/**
 * Records a Warning that an object waits for a person or was refused: once per reason and message, with a growing pause
 * while they change without an edit. What status already said when this process started is not repeated.
 */
export function recordWarning(
  { clock, memories, events }: Pick<Deps, "clock" | "memories" | "events">,
  key: ObjectKey,
  written: { before: KubeObject; after: KubeObject; condition: ReadyState; graceUntil?: number },
): void {
  const { before, after, condition, graceUntil = 0 } = written;
  const memory = memories.of(key);
  const now = clock.monotonic();
  const { reason } = condition;
  const { generation = 1 } = after.metadata;
  const [text, textBefore] = [readyText(after), readyText(before)];
  const isFirst = memory.condition === undefined;
  const since = memory.condition?.reason === reason ? memory.condition.since : now;
  memory.condition = { reason, since };
  if (condition.mode === "ready" || memory.lastEvent?.generation !== generation) memory.lastEvent = undefined;
  if (condition.mode === "ready") return;
  const patience = condition.mode === "stalled" ? 0 : PATIENCE_MS[reason];
  if (patience === undefined || text === undefined || now - since < patience) return;
  if (condition.mode === "reconciling" && now < graceUntil) return;
  const times = memory.lastEvent ? memory.lastEvent.times + 1 : 0;
  const isNews = text !== memory.lastEvent?.text && !(isFirst && text === textBefore);
  if (memory.lastEvent && (!isNews || now < memory.lastEvent.nextAt)) return;
  memory.lastEvent = { text, generation, times, nextAt: now + 1000 * 2 ** Math.min(times, 12) };
  if (isNews) events.record(after, "Warning", reason, condition.message);
}

function readyText(object: KubeObject): string | undefined {
  const ready = readyOf(object);
  return ready && `${ready.reason} ${ready.message}`;
}
