import { invalid, missing, refused } from "../../http/refusal.ts";
import { datacenterOf, type Resource } from "../../store/resource.ts";
import type { Link } from "../kind/kind.ts";
import { kindOf } from "../table.ts";
import { drawDuration, type Write } from "./provisioning.ts";
import { readerFor, refuseBusy, visible } from "./reading.ts";

/** Attaches an existing resource to a holder: visible at once, BUSY until the request ends. Gives the member. */
export function attach(write: Write, link: Link, holder: Resource, memberId: string): Resource {
  const member = memberFor(write, link, holder, memberId);
  if (member === undefined) throw missing();
  const attached = attachedTo(write, link, holder, member);
  if (!link.shared) return change(write, `attach/${link.type}`, member, attached);
  change(write, `attach/${link.type}`, holder, attached);
  return member;
}

/** Makes exactly these the members of a shared link. */
export function replaceMembers(write: Write, link: Link, holder: Resource, memberIds: readonly string[]): void {
  const { world } = write;
  const others = holder.refs.filter((ref) => world.resources.get(ref)?.type !== link.type);
  let next: Resource = { ...holder, refs: others };
  for (const [index, id] of memberIds.entries()) {
    if (memberIds.indexOf(id) < index) continue;
    const member = memberFor(write, link, holder, id);
    if (member === undefined) {
      throw invalid(`(root).ids[${index}]`, `the ${link.type} ${id} does not exist in the datacenter`);
    }
    next = { ...next, ...attachedTo(write, link, next, member) };
  }
  change(write, `attach/${link.type}`, holder, next);
}

/** Detaches a resource from its holder. Until the request ends it stays attached, and the referring side is BUSY. */
export function detach(write: Write, link: Link, holder: Resource, member: Resource): void {
  const { world } = write;
  if (link.detach === undefined) throw refused(`A ${link.type} cannot be detached`);
  const detached = link.detach(world, holder, member);
  const changed = link.shared ? holder : member;
  world.resources.put({ ...changed, state: "BUSY" });
  drawDuration(write, `detach/${link.type}`, kindOf(changed.type).spans?.update ?? [0, 0]);
  write.targets.push(changed);
  write.onDone.push({ op: "become", key: changed.key, ...detached });
  write.onFailed.push({ op: "settle", key: changed.key });
}

/** The resource to attach: idle, and in the holder's datacenter or in none. */
function memberFor({ world, call }: Write, link: Link, holder: Resource, id: string): Resource | undefined {
  const member = world.resources.byId(link.type, id);
  const within = member?.parent === "" || member?.key.startsWith(`${datacenterOf(holder.key)}/`);
  if (member === undefined || !within) return undefined;
  const above = world.resources.get(member.parent);
  refuseBusy(visible(readerFor(world, call), [...(above === undefined ? [] : [above.key]), member.key]));
  return member;
}

function attachedTo({ world }: Write, link: Link, holder: Resource, member: Resource) {
  if (link.attach === undefined) throw refused(`A ${link.type} cannot be attached here`);
  return link.attach(world, holder, member);
}

function change(
  write: Write,
  operation: string,
  before: Resource,
  { properties, refs }: Pick<Resource, "properties" | "refs">,
): Resource {
  const { world, call } = write;
  const next: Resource = {
    ...before,
    properties,
    refs,
    state: "BUSY",
    modifiedAt: call.at,
    modifiedBy: call.caller.user.id,
  };
  world.resources.put(next);
  drawDuration(write, operation, kindOf(before.type).spans?.update ?? [0, 0]);
  // A resource that the same request creates is among them already.
  if (!write.targets.some(({ key }) => key === next.key)) write.targets.push(next);
  write.onDone.push({ op: "settle", key: next.key });
  write.onFailed.push({ op: "become", key: next.key, properties: before.properties, refs: before.refs });
  return next;
}
