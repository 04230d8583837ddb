import { missing, refused } from "../http/refusal.ts";
import type { Resource } from "../store/resource.ts";
import type { Creation } from "./create.ts";
import { datacenterOf } from "./href.ts";
import type { Link } from "./kind.ts";
import { takes } from "./provisioning.ts";
import { kindOf } from "./table.ts";

/** Hangs an existing resource onto a holder in the same datacenter: visible at once, BUSY until the request ends. */
export function attach({ world, call, work }: Creation, link: Link, holder: Resource, member: Resource): Resource {
  if (link.attach === undefined) throw refused(`A ${link.type} cannot be attached here`);
  if (!member.key.startsWith(`${datacenterOf(holder.key)}/`)) throw missing();
  const next: Resource = {
    ...member,
    ...link.attach(world, holder, member),
    state: "BUSY",
    modifiedAt: call.at,
    modifiedBy: call.caller.user.id,
  };
  world.resources.put(next);
  takes(world, work, `attach/${link.type}`, kindOf(link.type).spans?.update ?? [0, 0]);
  work.targets.push(next);
  work.onDone.push({ op: "settle", key: member.key });
  work.onFailed.push({ op: "become", key: member.key, properties: member.properties, refs: member.refs });
  return next;
}

/** Takes a resource off its holder; it stays attached, BUSY, until the request ends. */
export function detach({ world, work }: Creation, link: Link, holder: Resource, member: Resource): void {
  if (link.detach === undefined) throw refused(`A ${link.type} cannot be detached`);
  const detached = link.detach(world, holder, member);
  world.resources.put({ ...member, state: "BUSY" });
  takes(world, work, `detach/${link.type}`, kindOf(link.type).spans?.update ?? [0, 0]);
  work.targets.push(member);
  work.onDone.push({ op: "become", key: member.key, ...detached });
  work.onFailed.push({ op: "settle", key: member.key });
}
