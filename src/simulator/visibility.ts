import { errorCode, refusal } from "./http/refusal.ts";
import { isAdministrator } from "./identity/privileges.ts";
import type { Table } from "./store/documents.ts";
import type { Resource } from "./store/resource.ts";
import type { Resources } from "./store/resources.ts";
import { groupsOf, type User } from "./users.ts";

/**
 * The user whose call is being handled. Handlers are synchronous and read through guarded tables only, so none can
 * forget the check. Work of the platform itself, from the agenda, sees everything.
 */
export interface Viewer {
  as<R>(user: User, work: () => R): R;
  /** For lookups of the platform itself while a call is handled. */
  asPlatform<R>(work: () => R): R;
  /** Undefined: owner, administrator or the platform itself, who see and change everything. */
  plainUser(): User | undefined;
}

export function createViewer(): Viewer {
  let current: User | undefined;
  function during<R>(user: User | undefined, work: () => R): R {
    const before = current;
    current = user;
    try {
      return work();
    } finally {
      current = before;
    }
  }
  return {
    as: (user, work) => during(isAdministrator(user) ? undefined : user, work),
    asPlatform: (work) => during(undefined, work),
    plainUser: () => current,
  };
}

const denied = () => refusal(403, errorCode.denied, "Access denied: the resource is shared with you for reading only");

/** Limits a table to the rows that a plain user may see and change. */
export function guardedTable<T>(
  table: Table<T>,
  viewer: Viewer,
  may: { see(row: NoInfer<T>, user: User): boolean; change?(row: NoInfer<T>, user: User): boolean },
): Table<T> {
  const seen = (row: T) => {
    const user = viewer.plainUser();
    return user === undefined || may.see(row, user);
  };
  const check = (key: string) => {
    const user = viewer.plainUser();
    const row = table.get(key);
    if (user !== undefined && row !== undefined && !(may.change ?? may.see)(row, user)) throw denied();
  };
  return {
    get(key) {
      const row = table.get(key);
      return row !== undefined && seen(row) ? row : undefined;
    },
    put(key, value) {
      check(key);
      table.put(key, value);
    },
    delete(key) {
      check(key);
      table.delete(key);
    },
    values: () => filter(table.values(), seen),
    get size() {
      return [...filter(table.values(), seen)].length;
    },
    watch: table.watch,
  };
}

/** Limits a tree to the creator of its root and to the groups that the root is shared with. */
export function guardedResources(resources: Resources, viewer: Viewer): Resources {
  const rootOf = (key: string) => resources.get(key.split("/", 2).join("/"));

  function may(resource: Resource, user: User, change: boolean): boolean {
    // Routes of user management check the role themselves. A resource without a creator belongs to the platform, and
    // all users may read it.
    if (resource.key.startsWith("um/") || resource.createdBy === "") return true;
    const root = rootOf(resource.key);
    // A label on an image of the platform belongs to its creator.
    if (root === undefined || (root.createdBy || resource.createdBy) === user.id) return true;
    const groups = groupsOf(resources, user.id).map(({ key }) => key);
    return resources
      .referrers(root.key, "resource")
      .some(({ parent, properties }) => groups.includes(parent) && (!change || properties.editPrivilege === true));
  }

  const seen = (resource: Resource) => {
    const user = viewer.plainUser();
    return user === undefined || may(resource, user, false);
  };
  const check = (resource: Resource | undefined) => {
    const user = viewer.plainUser();
    if (user !== undefined && resource !== undefined && !may(resource, user, true)) throw denied();
  };
  const shown = (resource: Resource | undefined) => (resource !== undefined && seen(resource) ? resource : undefined);

  return {
    get: (key) => shown(resources.get(key)),
    put(resource) {
      check(resource);
      resources.put(resource);
    },
    children: (parent, collection) => filter(resources.children(parent, collection), seen),
    referrers: (key, type) => resources.referrers(key, type).filter(seen),
    ofType: (type) => filter(resources.ofType(type), seen),
    byId: (type, id) => shown(resources.byId(type, id)),
    remove(key) {
      check(resources.get(key));
      resources.remove(key);
    },
    watch: resources.watch,
  };
}

function* filter<T>(rows: Iterable<T>, keep: (row: T) => boolean): Generator<T> {
  for (const row of rows) if (keep(row)) yield row;
}
