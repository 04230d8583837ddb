import type { KubeObject } from "../../kube/resource.ts";
import type { Deps } from "../look/deps.ts";
import type { ObjectKey } from "../objects/object.ts";
import type { Reason } from "../schema/reasons.ts";
import { readyOf, type Standing } from "../schema/status.ts";

/** With these an object waits for a person although nothing is stalled; so long it has to last before that is worth an Event. */
const PATIENCE_MS: { readonly [R in Reason]?: number } = {
  ReferenceNotFound: 0,
  AccountNotFound: 0,
  SecretNotFound: 0,
  PlatformUnavailable: 60_000,
  DestinationUnavailable: 60_000,
};

const patienceWith = ({ mode, reason }: Pick<Standing, "mode" | "reason">): number | undefined => {
  if (mode === "ready") return undefined;
  return mode === "stalled" ? 0 : PATIENCE_MS[reason];
};

/**
 * Tells in an Event that an object waits for a person or was refused: each reason and message once, and with pauses that
 * double while they change without an edit. What status said before this process began was told by the one before.
 */
export function tell(
  { clock, memories, events }: Pick<Deps, "clock" | "memories" | "events">,
  key: ObjectKey,
  told: { before: KubeObject; after: KubeObject; standing: Standing; youngUntil?: number },
): void {
  const { before, after, standing, youngUntil = 0 } = told;
  const memory = memories.of(key);
  const now = clock.monotonic();
  const { reason } = standing;
  const { generation = 1 } = after.metadata;
  const [said, known] = [saidBy(after), saidBy(before)];
  const isFirst = memory.standing === undefined;
  const since = memory.standing?.reason === reason ? memory.standing.since : now;
  memory.standing = { reason, since };
  if (standing.mode === "ready" || memory.told?.generation !== generation) memory.told = undefined;
  const patience = patienceWith(standing);
  if (patience === undefined || said === undefined || now - since < patience) return;
  // What a young object waits for usually comes in the same `kubectl apply`.
  if (standing.mode === "reconciling" && now < youngUntil) return;
  const times = memory.told ? memory.told.times + 1 : 0;
  const isNews = said !== memory.told?.said && !(isFirst && said === known);
  if (memory.told && (!isNews || now < memory.told.nextAt)) return;
  memory.told = { said, generation, times, nextAt: now + 1000 * 2 ** Math.min(times, 12) };
  if (isNews) events.record(after, "Warning", reason, standing.message);
}

function saidBy(object: KubeObject): string | undefined {
  const ready = readyOf(object);
  return ready && `${ready.reason} ${ready.message}`;
}
