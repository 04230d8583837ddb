import type { Drift, Operation } from "../../kinds/desired.ts";
import { isSuccessive } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { Deps } from "../observe/deps.ts";
import type { Context } from "../observe/view.ts";
import { readStatus, readyOf } from "../status/status.ts";

/**
 * Whether a write puts right what somebody has changed on the platform: the object was Ready for the spec that it has. What
 * follows on such a write is part of the same correction.
 */
function isCorrection({ object, status }: Pick<Context, "object" | "status">): boolean {
  if (status.observedGeneration !== (object.metadata.generation ?? 1)) return false;
  return status.request ? status.request.corrects === true : readyOf(object)?.status === "True";
}

/** What a request is noted down with, for when it is over. */
export const notesOf = (context: Pick<Context, "object" | "status">, marks: Operation["marks"]) => ({
  ...(marks && { marks }),
  ...(isCorrection(context) && { corrects: true }),
});

/**
 * Tells in an Event what a request has led to, when the status lets go of the request and the resource was seen at rest since:
 * that the resource was created, and which drift is no more.
 */
export function tellOutcome(deps: Deps, { kind, status, view }: Context, after: KubeObject): void {
  const { request: before, drift = [], id } = status;
  const { observation } = view;
  if (!before || observation.seen !== "present" || observation.busy || observation.broken !== undefined) return;
  const now = readStatus(after);
  if (before.action === "create" && now.request?.action !== "create" && !isSuccessive(kind)) {
    deps.events.record(after, "Normal", "Created", `Created ${kind.kind} ${id}`);
  }
  if (!before.corrects) return;
  const left = new Set(now.drift?.map(({ field }) => field));
  const corrected = drift.filter(({ field }) => !left.has(field));
  if (corrected.length === 0) return;
  deps.corrected(kind.kind);
  deps.events.record(after, "Normal", "DriftCorrected", `corrected drift: ${inWords(corrected)}`);
}

/** So many fields are named, and so much of a value. */
const MOST = 5;
const LENGTH = 80;

function inWords(corrected: readonly Drift[]): string {
  const shown = corrected
    .slice(0, MOST)
    .map(({ field, found, wanted }) => `${field} from ${shortened(found)} back to ${shortened(wanted)}`);
  const more = corrected.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

const shortened = (value: string): string =>
  value === "" ? "empty" : value.length > LENGTH ? `${value.slice(0, LENGTH)}…` : value;
