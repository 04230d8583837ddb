import { missing, refused } from "../http/refusal.ts";
import type { Resource } from "../store/resource.ts";
import { datacenterOf } from "./href.ts";
import type { Link } from "./kind.ts";
import { takes, type Write } from "./provisioning.ts";
import { readerFor, refuseBusy, visible } from "./reading.ts";
import { kindOf } from "./table.ts";

/** Hangs an existing resource onto a holder in the same datacenter: visible at once, BUSY until the request ends. */
export function attach(write: Write, link: Link, holder: Resource, memberId: string): Resource {
  const { world, call } = write;
  const member = world.resources.byId(link.type, memberId);
  if (link.attach === undefined) throw refused(`A ${link.type} cannot be attached here`);
  if (!member?.key.startsWith(`${datacenterOf(holder.key)}/`)) throw missing();
  refuseBusy(visible(readerFor(world, call), [member.key]));
  const next: Resource = {
    ...member,
    ...link.attach(world, holder, member),
    state: "BUSY",
    modifiedAt: call.at,
    modifiedBy: call.caller.user.id,
  };
  world.resources.put(next);
  takes(write, `attach/${link.type}`, kindOf(link.type).spans?.update ?? [0, 0]);
  write.targets.push(next);
  write.onDone.push({ op: "settle", key: member.key });
  write.onFailed.push({ op: "become", key: member.key, properties: member.properties, refs: member.refs });
  return next;
}

/** Takes a resource off its holder; it stays attached, BUSY, until the request ends. */
export function detach(write: Write, link: Link, holder: Resource, member: Resource): void {
  const { world } = write;
  if (link.detach === undefined) throw refused(`A ${link.type} cannot be detached`);
  const detached = link.detach(world, holder, member);
  world.resources.put({ ...member, state: "BUSY" });
  takes(write, `detach/${link.type}`, kindOf(link.type).spans?.update ?? [0, 0]);
  write.targets.push(member);
  write.onDone.push({ op: "become", key: member.key, ...detached });
  write.onFailed.push({ op: "settle", key: member.key });
}
