import { objectOf } from "../../engine/accounts/accounts.ts";
import { namedBy, type ObjectKey } from "../../engine/state/object.ts";
import { readStatus } from "../../engine/status/status.ts";
import { allObjects, type MooringObject, summaryOf } from "../objects.ts";
import type { Sources } from "../sources.ts";

/** An object in the tree, below the object that it lives in or below its Account. */
export interface Branch {
  object: ObjectKey;
  /** Undefined for a referenced object that does not exist or that the caller may not read. */
  known?: MooringObject;
  ready: boolean;
  reason: string;
  below: Branch[];
}

/** All objects as trees. Each object appears once: below the first object that it lives in, else below its Account. */
export async function forest(
  sources: Sources,
  asked: { namespace?: string | undefined; selector?: string | undefined },
): Promise<Branch[]> {
  const all = await allObjects(sources, asked.namespace, undefined, asked.selector);
  const parents = new Map([...all.values()].map((each) => [each.key, parentOf(each)]));
  const below = new Map<ObjectKey, ObjectKey[]>();
  const roots = new Set<ObjectKey>();
  for (const key of all.keys()) {
    const parent = parents.get(key);
    if (parent === undefined || isInCircle(key, parents)) roots.add(key);
    else {
      const members = below.get(parent);
      if (members) members.push(key);
      else below.set(parent, [key]);
    }
  }
  // Referenced objects that do not exist, or are in another namespace, are shown as well.
  for (const parent of below.keys()) if (!all.has(parent)) roots.add(parent);
  const branchOf = (key: ObjectKey): Branch => {
    const known = all.get(key);
    const { ready, reason } = known ? summaryOf(known) : { ready: false, reason: "not found or not listed here" };
    return {
      object: key,
      ...(known && { known }),
      ready,
      reason,
      below: (below.get(key) ?? []).sort().map(branchOf),
    };
  };
  return [...roots].sort().map(branchOf);
}

function parentOf(each: MooringObject): ObjectKey | undefined {
  const place = namedBy(each.kind, each.object).find(({ bond = "place" }) => bond === "place");
  const { account } = readStatus(each.object);
  return place?.key ?? (account === undefined ? undefined : objectOf(account));
}

function isInCircle(start: ObjectKey, parents: ReadonlyMap<ObjectKey, ObjectKey | undefined>): boolean {
  const seen = new Set([start]);
  for (let at = parents.get(start); at !== undefined; at = parents.get(at)) {
    if (at === start) return true;
    if (seen.has(at)) return false;
    seen.add(at);
  }
  return false;
}

/** The same tree as a document. */
export const plainBranch = ({ known: _, below, ...branch }: Branch): object => ({
  ...branch,
  below: below.map(plainBranch),
});
