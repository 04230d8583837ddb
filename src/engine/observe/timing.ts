import type { KubeObject } from "../../kube/resource.ts";
import type { Memory } from "../state/memory.ts";
import { INTENT } from "../state/names.ts";
import { countedAnnotation, trust } from "../status/trust.ts";
import type { Shared } from "./collections.ts";
import type { Deps } from "./deps.ts";

/** By the API server's clock, which may differ from ours: at most the grace time from when this process saw what is wanted. */
export function graceUntil(
  { metadata }: KubeObject,
  { desired }: Memory,
  now: number,
  { clock, settings }: Deps,
): number {
  const ageMs = clock.now() - (Date.parse(metadata.creationTimestamp ?? "") || 0);
  return Math.min(now - ageMs, desired?.at ?? now) + settings.graceMs;
}

/** So many times longer than an object has to rest may its neighbours put off the annotation. */
const LONGEST_PUT_OFF = 20;

/** An object and its neighbours have rested for a while: the writes of those that are still being built go first, but not for ever. */
export function annotateAt(
  memory: Memory,
  shared: Shared | undefined,
  now: number,
  { annotateAfterMs }: Deps["settings"],
): number {
  const { restingSince = now } = memory;
  const othersSince = !shared || shared.collection.changing > 0 ? now : shared.collection.changedAt;
  const latest = restingSince + LONGEST_PUT_OFF * annotateAfterMs;
  return Math.max(restingSince + annotateAfterMs, Math.min(othersSince + annotateAfterMs, latest));
}

/** Whether the annotation with the id is there, where one is to be, and signed with the key that signs now. */
export const isKept = (object: KubeObject): boolean =>
  countedAnnotation(object, INTENT) === undefined && (trust.get(object)?.current.marks ?? true);
