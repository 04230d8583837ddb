import { isDeepStrictEqual } from "node:util";
import { invalid } from "../../http/refusal.ts";
import type { Properties, Resource } from "../../store/resource.ts";
import { givenProperties } from "../kind/body.ts";
import type { Kind } from "../kind/kind.ts";
import { kindOf } from "../table.ts";
import { shaped } from "./create.ts";
import { drawDuration, removeLater, type Write } from "./provisioning.ts";

/** Applies a PUT (all properties) or PATCH (some of them, bare or wrapped). The new values show at once. */
export function updateResource(
  write: Write,
  kind: Kind,
  resource: Resource,
  body: Properties,
  mode: "put" | "patch",
): Resource {
  const { world, call } = write;
  kind.guard?.(world, resource, "update");
  const bare = mode === "patch" && (body.properties === undefined || body.properties === null);
  const given = givenProperties(kind, bare ? body : body.properties, "(root)", mode);
  for (const name of kind.createOnly ?? []) {
    const value = given.values[name];
    if (value !== undefined && !isDeepStrictEqual(value, resource.properties[name])) {
      throw invalid(`(root).properties.${name}`, "can be set at creation only and cannot be changed");
    }
  }
  const draft = shaped(write, kind, {
    // Reads show some create-only properties as null; sending that back changes nothing.
    given: { ...given, cleared: given.cleared.filter((name) => !kind.createOnly?.includes(name)) },
    inline: {},
    key: resource.key,
    path: "(root)",
    write: mode,
    previous: resource,
    start: mode === "put" ? withDefaults(kind, resource) : resource.properties,
    parent: world.resources.get(resource.parent) ?? null,
    holder: null,
  });
  const next: Resource = {
    ...resource,
    properties: draft.next,
    refs: draft.refs,
    state: kind.spans === undefined ? null : "BUSY",
    shownState: kind.states?.update,
    modifiedAt: call.at,
    modifiedBy: call.caller.user.id,
  };
  world.resources.put(next);
  if (kind.spans !== undefined) {
    drawDuration(write, `update/${kind.type}`, kind.spans.update);
    write.targets.push(next);
    write.onDone.push({ op: "settle", key: next.key });
    write.onFailed.unshift({ op: "become", key: next.key, properties: resource.properties, refs: resource.refs });
  }
  return next;
}

/**
 * The properties before a PUT is applied: those that the caller may set are back at their defaults. Those that only the
 * platform or the creation sets, and those of `keptOnPut`, stay.
 */
function withDefaults(kind: Kind, resource: Resource): Properties {
  const kept = new Set([...(kind.createOnly ?? []), ...(kind.keptOnPut ?? [])]);
  const settable = Object.keys(kind.schema.shape).filter((name) => !kept.has(name));
  const rest = Object.fromEntries(Object.entries(resource.properties).filter(([name]) => !settable.includes(name)));
  return { ...rest, ...kind.defaults, ...pick(resource.properties, kept) };
}

function pick(properties: Properties, names: ReadonlySet<string>): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => names.has(name)));
}

/** Deletes a resource with its children and the resources that belong to it; at once where the kind has no states. */
export function deleteResource(write: Write, kind: Kind, resource: Resource): void {
  const { world, call } = write;
  kind.guard?.(world, resource, "delete");
  if (kind.spans === undefined) {
    world.resources.remove(resource.key);
    kind.deleted?.(world, resource);
    return;
  }
  drawDuration(write, `delete/${kind.type}`, kind.spans.delete);
  for (const each of [resource, ...(kind.alsoDeleted?.(world, resource, call) ?? [])]) {
    removeLater(write, kindOf(each.type), each);
  }
}
