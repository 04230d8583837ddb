import { z } from "zod";
import type { Comparison, Inputs, Reference } from "../../desired.ts";
import { datacenterPath, exactlyOne, objectRef, uuid } from "../../fields/fields.ts";

/** The server that a volume is attached to. */
export const attachTo = z
  .object({
    serverRef: objectRef("Server").optional().describe("The Server."),
    serverId: uuid().optional().describe("Platform id of the server."),
  })
  .meta({ "x-kubernetes-validations": [exactlyOne("serverRef", "serverId")] });
type AttachTo = z.output<typeof attachTo>;

export function attachReferences(attachTo: AttachTo | undefined): Reference[] {
  if (!attachTo) return [];
  const { serverRef, serverId } = attachTo;
  const target = serverId !== undefined ? { id: serverId } : (serverRef ?? { name: "" });
  return [{ role: "server", kind: "Server", field: "attachTo", target, bond: "use" }];
}

/** Whether Mooring has attached it: as status shows, or by its last write. */
export const isByMooring = (server: string | null | undefined, { shown, marks }: Pick<Inputs, "shown" | "marks">) =>
  server != null && (server === shown.attachedTo || server === marks?.attachedTo);

/**
 * A volume is attached to one server at a time: it is detached from the old server before it is attached to the new
 * one.
 */
export function compareAttachment(
  attachTo: AttachTo | undefined,
  { id, bootServer }: { id: string; bootServer: string | null | undefined },
  { refs, parents, ...known }: Inputs,
): Comparison {
  const wanted = refs.server?.id;
  const found = bootServer ?? undefined;
  // A volume that somebody else attached stays attached while spec has no attachTo.
  const released = attachTo === undefined && found !== undefined && isByMooring(found, known);
  if (!released && (wanted === undefined || wanted === found)) return { drift: [] };
  const drift = [{ field: "attachTo", wanted: wanted ?? "", found: found ?? "" }];
  const volumesOf = (server: string) => `${datacenterPath(parents)}/servers/${encodeURIComponent(server)}/volumes`;
  if (found !== undefined)
    return { drift, next: { action: "detach", method: "DELETE", path: `${volumesOf(found)}/${id}` } };
  const server = wanted ?? "";
  const marks = { attachedTo: server };
  return { drift, next: { action: "attach", method: "POST", path: volumesOf(server), body: { id }, marks } };
}

/** Volumes that a Cube can have, its direct-attached volume included. */
const CUBE_SLOTS = 24;

const host = z.object({
  parents: z.object({ datacenter: z.string() }).optional(),
  type: z.string().optional(),
  bootVolumeId: z.string().optional(),
  volumes: z.array(z.object({ name: z.string().optional() })).default([]),
});

/** The reason why the server cannot take the volume `name`: another datacenter, or a Cube without a free slot. */
export function attachmentProblem(
  attachTo: AttachTo | undefined,
  name: string,
  { refs, parents, shown }: Inputs,
): string | undefined {
  if (!attachTo || !refs.server) return undefined;
  const { serverId: current } = shown;
  if (refs.server.name === undefined && typeof current === "string" && current !== refs.server.id) {
    return `attachTo.serverId: no Server object of this namespace has server ${refs.server.id}, so it may not exist, and the volume is in use by ${current}: to move it there, remove attachTo first, which detaches it`;
  }
  const server = `attachTo: Server ${attachTo.serverRef?.name ?? attachTo.serverId}`;
  const { type, bootVolumeId, volumes, ...home } = host.parse(refs.server.status);
  if (home.parents && home.parents.datacenter !== parents.datacenter) {
    return `${server} is in another datacenter: a volume can only be attached in its own datacenter`;
  }
  if (type !== "CUBE" || shown.serverId === refs.server.id) return undefined;
  // The server may list this volume before the volume's own status shows the attachment.
  const others = volumes.filter((volume) => volume.name !== name);
  const taken = others.length + (bootVolumeId === undefined ? 0 : 1);
  if (taken < CUBE_SLOTS) return undefined;
  return `${server} is a Cube and has no free slot (at most ${CUBE_SLOTS - 1} volumes besides its own): detach one, or choose another Server`;
}
