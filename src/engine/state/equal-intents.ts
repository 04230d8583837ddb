import type { KubeObject } from "../../kube/resource.ts";
import { createIndex } from "../../kube/watch/keyed-index.ts";
import { countedAnnotation } from "../status/trust.ts";
import { type Intent, readIntent } from "./intent.ts";
import { INTENT } from "./names.ts";
import type { ObjectKey } from "./object.ts";

type Wanted = Pick<Intent, "hash" | "parents">;

/** Who waits for the result of a creation of the same sort, with the same body, in the same place. */
export function createEqualIntents(
  sortOf: (kind: string) => string,
  find: (key: ObjectKey) => { object: KubeObject } | undefined,
) {
  const intents = createIndex();
  const wordOf = (kind: string, { hash, parents }: Wanted) =>
    `${sortOf(kind)}/${hash}/${JSON.stringify(Object.entries(parents).sort())}`;
  /** The intent of an object, answered or not. */
  const begunAt = (key: ObjectKey): string | undefined => {
    const object = find(key)?.object;
    return object && readIntent(countedAnnotation(object, INTENT))?.at;
  };
  return {
    set: (name: string, kind: string, intent: Wanted | undefined): void =>
      intents.set(name, intent ? [wordOf(kind, intent)] : []),
    /** In an order all agree on; what no object tells of comes last. */
    of: (kind: string, intent: Wanted): ObjectKey[] =>
      intents
        .get(wordOf(kind, intent))
        .sort((a, b) => (begunAt(a) ?? "last").localeCompare(begunAt(b) ?? "last") || a.localeCompare(b)),
  };
}
