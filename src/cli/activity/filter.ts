import { type Entry, isRead } from "../../platform/activity/entry.ts";
import type { ObjectName } from "./object-names.ts";

export interface Criteria {
  /** Empty: all. */
  users: readonly string[];
  resources: readonly string[];
  actions: readonly string[];
  /** Whether to include read accesses. */
  reads: boolean;
}

/** An entry passes if it matches one value of each criterion, ignoring case. */
export function createFilter({ users, resources, actions, reads }: Criteria) {
  const any = (wanted: readonly string[], values: readonly string[]) => {
    const known = new Set(values.map((value) => value.toLowerCase()));
    return wanted.length === 0 || wanted.some((value) => known.has(value.toLowerCase()));
  };
  return (entry: Entry, objects: readonly ObjectName[]): boolean =>
    (reads || !isRead(entry)) &&
    any(users, [entry.user]) &&
    any(actions, [entry.event, ...endsOf(entry.action)]) &&
    any(resources, [
      entry.resource,
      ...entry.resources.flatMap(({ type, id }) => [type, id, `${type}/${id}`]),
      ...objects.flatMap(({ kind, namespace, name }) => [`${kind}/${name}`, `${kind}/${namespace}/${name}`]),
    ]);
}

/** `vr.server.create` is also `server.create` and `create`. */
function endsOf(action: string): string[] {
  const parts = action.split(".");
  return parts.map((_, at) => parts.slice(at).join("."));
}
