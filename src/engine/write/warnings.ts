import type { KubeObject } from "../../kube/resource.ts";
import type { Deps } from "../observe/deps.ts";
import type { ObjectKey } from "../state/object.ts";
import type { Reason } from "../status/reasons.ts";
import { type ReadyState, readyOf } from "../status/status.ts";

/** With these an object waits for a person although nothing is stalled; so long it has to last before that is worth an Event. */
const PATIENCE_MS: { readonly [R in Reason]?: number } = {
  ReferenceNotFound: 0,
  AccountNotFound: 0,
  SecretNotFound: 0,
  PlatformUnavailable: 60_000,
  DestinationUnavailable: 60_000,
};

const patienceFor = ({ mode, reason }: Pick<ReadyState, "mode" | "reason">): number | undefined => {
  if (mode === "ready") return undefined;
  return mode === "stalled" ? 0 : PATIENCE_MS[reason];
};

/**
 * Tells in an Event that an object waits for a person or was refused: each reason and message once, and with pauses that
 * double while they change without an edit. What status said before this process began was told by the one before.
 */
export function recordWarning(
  { clock, memories, events }: Pick<Deps, "clock" | "memories" | "events">,
  key: ObjectKey,
  told: { before: KubeObject; after: KubeObject; standing: ReadyState; youngUntil?: number },
): void {
  const { before, after, standing, youngUntil = 0 } = told;
  const memory = memories.of(key);
  const now = clock.monotonic();
  const { reason } = standing;
  const { generation = 1 } = after.metadata;
  const [said, known] = [readyText(after), readyText(before)];
  const isFirst = memory.condition === undefined;
  const since = memory.condition?.reason === reason ? memory.condition.since : now;
  memory.condition = { reason, since };
  if (standing.mode === "ready" || memory.lastEvent?.generation !== generation) memory.lastEvent = undefined;
  const patience = patienceFor(standing);
  if (patience === undefined || said === undefined || now - since < patience) return;
  // What a young object waits for usually comes in the same `kubectl apply`.
  if (standing.mode === "reconciling" && now < youngUntil) return;
  const times = memory.lastEvent ? memory.lastEvent.times + 1 : 0;
  const isNews = said !== memory.lastEvent?.text && !(isFirst && said === known);
  if (memory.lastEvent && (!isNews || now < memory.lastEvent.nextAt)) return;
  memory.lastEvent = { text: said, generation, times, nextAt: now + 1000 * 2 ** Math.min(times, 12) };
  if (isNews) events.record(after, "Warning", reason, standing.message);
}

function readyText(object: KubeObject): string | undefined {
  const ready = readyOf(object);
  return ready && `${ready.reason} ${ready.message}`;
}
