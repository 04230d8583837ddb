import type { Kind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { Deps } from "../observe/deps.ts";
import { annotationAdvice, isAboutAnnotations } from "../state/annotations.ts";
import { readStatus } from "../status/status.ts";

/** A status with what there is to say about the object's annotations now, whatever else it advises. */
export function withAnnotationAdvice(kind: Kind, object: KubeObject, status: object): object {
  const { advice: before, ...rest }: { advice?: unknown } = status;
  const others: unknown[] = Array.isArray(before) ? before.filter((each) => !isAboutAnnotations(String(each))) : [];
  const advice = [...others, ...annotationAdvice(kind, object)];
  return advice.length > 0 ? { ...rest, advice } : rest;
}

/** Tells in an Event what a write has added to the advice: each piece once, for as long as it stands. */
export function tellAdvice({ events }: Pick<Deps, "events">, before: KubeObject, after: KubeObject): void {
  const known = readStatus(before).advice ?? [];
  for (const news of (readStatus(after).advice ?? []).filter((each) => !known.includes(each))) {
    events.record(after, "Warning", "Advice", news);
  }
}

/** Whether the advice of an object does not fit its annotations, or it still says that it is paused although it goes on. */
export function isAnnotatedAnew(kind: Kind, object: KubeObject): boolean {
  const { advice = [], conditions = [] } = readStatus(object);
  const told = advice.filter(isAboutAnnotations);
  return (
    told.join("\n") !== annotationAdvice(kind, object).join("\n") || conditions.some(({ type }) => type === "Paused")
  );
}
