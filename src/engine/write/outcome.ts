import type { Drift, Operation } from "../../kinds/desired.ts";
import { isSuccessive } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { Deps } from "../observe/deps.ts";
import type { Context } from "../observe/view.ts";
import { readStatus, readyOf } from "../status/status.ts";

/** Whether a write corrects drift: the object was Ready with its current spec. A write after such a write is part of the correction. */
function isCorrection({ object, status }: Pick<Context, "object" | "status">): boolean {
  if (status.observedGeneration !== (object.metadata.generation ?? 1)) return false;
  return status.request ? status.request.corrects === true : readyOf(object)?.status === "True";
}

/** What the record of a request needs when it is over. */
export const notesOf = (context: Pick<Context, "object" | "status">, marks: Operation["marks"]) => ({
  ...(marks && { marks }),
  ...(isCorrection(context) && { corrects: true }),
});

/** Records an Event when a request is over and its effect was seen: the resource was created, or drift was corrected. */
export function tellOutcome(deps: Deps, { kind, status, view }: Context, after: KubeObject): void {
  const { request: before, drift = [], id } = status;
  const { observation } = view.resource;
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

/** How many fields an Event names, and how much of a value. */
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
