import { z } from "zod";
import { refused } from "../../http/refusal.ts";
import { datacenterOf, hrefOf, type Properties, type Resource } from "../../store/resource.ts";
import type { World } from "../../world.ts";
import type { Draft, Link } from "../kind/kind.ts";
import { sameRegion } from "./catalogue.ts";

/** How many CDs a server can have at a time. */
const drives = 2;

/** How a server names the device it boots from. */
export const reference = z.object({ id: z.string() });

/** The CDs of a server. */
export const cdroms: Link = {
  collection: "cdroms",
  type: "image",
  param: "cdromId",
  verbs: { collection: "GP", item: "GD" },
  paged: true,
  shared: true,
  attach(world, server, image) {
    const problem = server.refs.includes(image.key)
      ? `the CD ${image.id} is in a drive of the server already`
      : insertionProblem(world, server, image);
    if (problem !== undefined) throw refused(`[VDC-14-80] The CD cannot be attached: ${problem}`);
    return { properties: server.properties, refs: [...server.refs, image.key] };
  },
  detach(_world, { properties, refs }, image) {
    return {
      properties: bootCdId(properties) === image.id ? { ...properties, bootCdrom: null } : properties,
      refs: refs.filter((ref) => ref !== image.key),
    };
  },
};

/** Naming a CD to boot from puts it into a drive, too. */
export function insertBootCd(draft: Draft): void {
  const id = bootCdId(draft.given);
  if (id === undefined) return;
  const image = draft.world.resources.get(`images/${id}`);
  if (image === undefined) {
    draft.fault("bootCdrom", `the image ${id} does not exist`);
  } else if (!draft.refs.includes(image.key)) {
    const problem = insertionProblem(draft.world, draft, image);
    if (problem !== undefined) draft.fault("bootCdrom", problem);
    draft.refs.push(image.key);
  }
}

export function bootCdOf(properties: Properties, origin: string): object | null {
  const id = bootCdId(properties);
  return id === undefined ? null : { id, type: "image", href: hrefOf(origin, `images/${id}`) };
}

const bootCdId = (properties: Properties) => reference.safeParse(properties.bootCdrom).data?.id;

/** Why an image cannot go into a drive of the server. */
function insertionProblem(world: World, { key, refs }: Pick<Resource, "key" | "refs">, image: Resource) {
  const { imageType, location } = image.properties;
  if (imageType !== "CDROM") return `the image ${image.id} is of the type ${imageType}, not CDROM`;
  if (!sameRegion(world, image.properties, world.resources.get(datacenterOf(key))?.properties ?? {})) {
    return `the image ${image.id} is in ${location}, the server is in another region`;
  }
  const inserted = refs.filter((ref) => world.resources.get(ref)?.type === image.type);
  return inserted.length < drives ? undefined : `a server has ${drives} drives; detach a CD first`;
}
