import { busy } from "../../http/refusal.ts";
import { type Resource, textIn } from "../../store/resource.ts";
import type { Draft } from "./kind.ts";

/** A resource that a write refers to, if it exists. Refuses a new reference to a resource that is being changed. */
export function referred({ world, previous }: Draft, key: string): Resource | undefined {
  const found = world.resources.get(key);
  const isNew = !previous?.refs.includes(key);
  // One body may create both; then their parent is BUSY, too.
  const createdTogether = found !== undefined && world.resources.get(found.parent)?.state === "BUSY";
  if (found?.state === "BUSY" && isNew && !createdTogether) throw busy(found);
  return found;
}

/** A LAN beside the resource, by its number; a fault of the property that names it when there is none. */
export function referredLan(draft: Draft, property: string, id: unknown): Resource | undefined {
  const lan = referred(draft, `${draft.parent?.key}/lans/${id}`);
  if (lan === undefined) draft.fault(property, `the LAN ${id} does not exist in the datacenter`);
  return lan;
}

/** The location that the body names has to be one; a fault of the property when it is not. */
export function checkLocation(draft: Draft): void {
  const location = textIn(draft.given, "location");
  if (location === undefined || draft.world.resources.get(`locations/${location}`) !== undefined) return;
  draft.fault("location", `the location "${location}" does not exist`);
}
