import type { ResourceKind } from "../kinds/kind.ts";
import type { KubeObject } from "../kube/resource.ts";
import { type FieldChange, titleOf } from "./item.ts";

/** Higher than any LAN number of the platform. */
const FIRST_NUMBER = 900_000_000;

/** Makes placeholder ids for resources that do not exist yet, and replaces them by readable names in output. */
export function placeholders() {
  const titles = new Map<string, string>();
  const withTitles = (text: string): string => {
    let shown = text;
    for (const [id, title] of titles) if (shown.includes(id)) shown = shown.replaceAll(id, title);
    return shown;
  };
  return {
    next({ resource }: ResourceKind, object: KubeObject): string {
      const nth = titles.size + 1;
      const id = resource.identity.reusesIds
        ? String(FIRST_NUMBER + nth)
        : `ffffffff-ffff-4fff-bfff-${String(nth).padStart(12, "0")}`;
      titles.set(id, `(id of ${titleOf(object)})`);
      return id;
    },
    readable: (change: FieldChange): FieldChange => ({
      ...change,
      from: withTitles(change.from),
      to: withTitles(change.to),
    }),
  };
}
