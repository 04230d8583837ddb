import type { Kind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { Deps } from "../observe/deps.ts";
import { annotationAdvice, isAboutAnnotations } from "../state/annotations.ts";
import { readStatus } from "../status/status.ts";

/** A status with the current advice about annotations. Other advice in it is kept. */
export function withAnnotationAdvice(kind: Kind, object: KubeObject, status: object): object {
  const { advice: before, ...rest }: { advice?: unknown } = status;
  const others: unknown[] = Array.isArray(before) ? before.filter((each) => !isAboutAnnotations(String(each))) : [];
  const advice = [...others, ...annotationAdvice(kind, object)];
  return advice.length > 0 ? { ...rest, advice } : rest;
}

/** Records an Event for each piece of advice that a write has added. */
export function tellAdvice({ events }: Pick<Deps, "events">, before: KubeObject, after: KubeObject): void {
  const known = readStatus(before).advice ?? [];
  for (const news of (readStatus(after).advice ?? []).filter((each) => !known.includes(each))) {
    events.record(after, "Warning", "Advice", news);
  }
}

/** Whether status must be written again because of annotations: other advice, or a condition Paused that is over. */
export function isAnnotatedAnew(kind: Kind, object: KubeObject): boolean {
  const { advice = [], conditions = [] } = readStatus(object);
  const known = advice.filter(isAboutAnnotations);
  return (
    known.join("\n") !== annotationAdvice(kind, object).join("\n") || conditions.some(({ type }) => type === "Paused")
  );
}
