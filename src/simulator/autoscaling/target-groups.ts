import { z } from "zod";
import { groupTarget } from "../core/load-balancing/target-group.ts";
import type { Replica } from "../records/scaling/records.ts";
import { textsIn } from "../store/resource.ts";
import type { World } from "../world.ts";

type Targets = z.infer<typeof groupTarget>[];

/** Puts the NICs of a replica that has come up into their target groups; gives its memberships. */
export function join(world: World, replica: Replica): Replica["memberships"] {
  return replica.memberships.map((membership) => {
    const nic = world.resources.get(membership.nic);
    const ip = nic && textsIn(nic.properties, "ips")[0];
    if (ip === undefined) return membership;
    const { targetGroupId, port, weight } = membership;
    changeTargets(world, targetGroupId, (others) => [...others, groupTarget.parse({ ip, port, weight })]);
    return { ...membership, ip };
  });
}

/** Removes a replica that is deleted from its target groups. */
export function leave(world: World, replica: Replica): void {
  for (const { targetGroupId, ip, port } of replica.memberships) {
    if (ip === null) continue;
    changeTargets(world, targetGroupId, (all) => all.filter((each) => each.ip !== ip || each.port !== port));
  }
}

/** A change by the platform itself: it has no request, and happens even while the target group is BUSY. */
function changeTargets(world: World, targetGroupId: string, change: (before: Targets) => Targets): void {
  const group = world.resources.byId("target-group", targetGroupId);
  if (group === undefined) return;
  const before = z.array(groupTarget).safeParse(group.properties.targets).data ?? [];
  world.resources.put({ ...group, properties: { ...group.properties, targets: change(before) } });
}
