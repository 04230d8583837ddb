import { z } from "zod";
import type { Comparison, Inputs, ObjectRef, Operation, Reference } from "../../desired.ts";
import { readable, volumesOf, type WireServer } from "./wire.ts";

const ROLE = "bootVolume";

export const bootReferences = (target: ObjectRef | undefined): Reference[] =>
  target ? [{ role: ROLE, kind: "Volume", field: "bootVolumeRef", target, bond: "use" }] : [];

const shownVolume = z.object({ parents: z.object({ datacenter: z.string() }).optional() });

export function bootProblem(target: ObjectRef | undefined, { refs, parents }: Inputs): string | undefined {
  const home = shownVolume.safeParse(refs[ROLE]?.status).data?.parents?.datacenter;
  if (!target || home === undefined || home === parents.datacenter) return undefined;
  return `bootVolumeRef: Volume ${target.name} is in another datacenter: a server can only boot from a volume in its own datacenter`;
}

/** The creation of a server attaches this volume and boots from it. */
export function bootBody({ refs }: Pick<Inputs, "refs">) {
  const id = refs[ROLE]?.id;
  return id === undefined ? undefined : { properties: { bootVolume: { id } }, volumes: { items: [{ id }] } };
}

const shownServer = z.object({ attachedBootVolumes: z.array(z.string()).default([]) });

/**
 * Volumes that are attached because spec names them now or named them before. Other attached volumes are not touched.
 */
export function attachedFor(found: WireServer, { refs, shown }: Pick<Inputs, "refs" | "shown">): string[] {
  const named = [
    ...(shownServer.safeParse(shown).data?.attachedBootVolumes ?? []),
    ...(refs[ROLE] ? [refs[ROLE].id] : []),
  ];
  return [...new Set(named)].filter((id) => volumesOf(found).some((volume) => volume.id === id));
}

/**
 * The new boot volume is attached before the former one is detached: if the platform refuses it, the server can still
 * boot.
 */
export function compareBootRef(found: WireServer, path: string, inputs: Pick<Inputs, "refs" | "shown">): Comparison {
  if (!readable(found.entities?.volumes?.items)) return { drift: [] };
  const wanted = inputs.refs[ROLE]?.id;
  const attached = attachedFor(found, inputs);
  const former = attached.find((id) => id !== wanted);
  const boot = found.properties.bootVolume?.id;
  const next = nextWrite();
  return next
    ? { drift: [{ field: "bootVolumeRef", wanted: wanted ?? "", found: former ?? boot ?? "" }], next }
    : { drift: [] };

  function nextWrite(): Operation | undefined {
    if (wanted !== undefined && !attached.includes(wanted)) {
      return { action: "attach the boot volume", method: "POST", path: `${path}/volumes`, body: { id: wanted } };
    }
    if (wanted !== undefined && boot !== wanted) {
      return { action: "set the boot volume", method: "PATCH", path, body: { bootVolume: { id: wanted } } };
    }
    if (former === undefined) return undefined;
    return { action: "detach the boot volume", method: "DELETE", path: `${path}/volumes/${former}` };
  }
}
