import type { Documents } from "./documents.ts";
import { type Resource, resourceSchema } from "./resource.ts";

/**
 * The tree of everything that exists. Indexes follow every change, so that a list of a thousand servers with
 * their volumes costs a walk over exactly those.
 */
export interface Resources {
  get(key: string): Resource | undefined;
  /** Stores the next version of a resource. */
  put(resource: Resource): void;
  /** Children in one collection, in order of creation. */
  children(parent: string, collection: string): Iterable<Resource>;
  /** Resources of one type that refer to `key`, the oldest reference first. */
  referrers(key: string, type: string): Resource[];
  ofType(type: string): Iterable<Resource>;
  /** Resources whose id is a UUID are found by it wherever they live. */
  byId(type: string, id: string): Resource | undefined;
  /** Removes a resource with all below it; what referred to any of them stays, without the reference. */
  remove(key: string): void;
  watch(listener: (before: Resource | undefined, after: Resource | undefined) => void): void;
}

export function createResources(documents: Documents): Resources {
  const table = documents.table("resources", resourceSchema);
  const memberKeys = createIndex();
  const childKeys = createIndex();
  const referrerKeys = createIndex();
  const typeKeys = createIndex();
  const idKeys = new Map<string, string>();

  table.watch((before, after) => {
    if (after !== undefined) {
      memberKeys.add(`${after.parent}/${after.collection}`, after.key);
      childKeys.add(after.parent, after.key);
      typeKeys.add(after.type, after.key);
      idKeys.set(`${after.type}/${after.id}`, after.key);
      for (const ref of after.refs) referrerKeys.add(ref, after.key);
    }
    if (before === undefined) return;
    for (const ref of before.refs) if (!after?.refs.includes(ref)) referrerKeys.remove(ref, before.key);
    if (after !== undefined) return;
    memberKeys.remove(`${before.parent}/${before.collection}`, before.key);
    childKeys.remove(before.parent, before.key);
    typeKeys.remove(before.type, before.key);
    idKeys.delete(`${before.type}/${before.id}`);
  });

  function* resolve(keys: Iterable<string>): Generator<Resource> {
    for (const key of keys) {
      const resource = table.get(key);
      if (resource !== undefined) yield resource;
    }
  }

  function remove(key: string) {
    const resource = table.get(key);
    if (resource === undefined) return;
    for (const child of [...childKeys.of(key)]) remove(child);
    for (const referrer of [...resolve(referrerKeys.of(key))]) {
      // A share ends with the resource that it shares.
      if (referrer.collection === "shares") {
        remove(referrer.key);
        continue;
      }
      table.put(referrer.key, { ...referrer, refs: referrer.refs.filter((ref) => ref !== key) });
    }
    table.delete(key);
  }

  return {
    get: (key) => table.get(key),
    put: (resource) => table.put(resource.key, { ...resource, revision: resource.revision + 1 }),
    children: (parent, collection) => resolve(memberKeys.of(`${parent}/${collection}`)),
    referrers: (key, type) => [...resolve(referrerKeys.of(key))].filter((each) => each.type === type),
    ofType: (type) => resolve(typeKeys.of(type)),
    byId(type, id) {
      const key = idKeys.get(`${type}/${id}`);
      return key === undefined ? undefined : table.get(key);
    },
    remove,
    watch: table.watch,
  };
}

/** Sets of keys by group. Empty groups are removed. */
function createIndex() {
  const groups = new Map<string, Set<string>>();
  return {
    add(group: string, key: string) {
      const keys = groups.get(group);
      if (keys === undefined) groups.set(group, new Set([key]));
      else keys.add(key);
    },
    remove(group: string, key: string) {
      const keys = groups.get(group);
      if (keys?.delete(key) && keys.size === 0) groups.delete(group);
    },
    of: (group: string): Iterable<string> => groups.get(group) ?? [],
  };
}
