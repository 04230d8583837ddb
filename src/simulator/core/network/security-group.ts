import { z } from "zod";
import { refused } from "../../http/refusal.ts";
import { checkPorts, firewallRuleSchema } from "../../records/fields.ts";
import { checkLimit } from "../../records/limits.ts";
import type { World } from "../../world.ts";
import type { Kind, Link } from "../kind/kind.ts";

export const firewallRule: Kind = {
  type: "firewall-rule",
  collection: "firewallrules",
  param: "firewallruleId",
  parents: ["nic"],
  verbs: { collection: "GP", item: "GUAD" },
  paged: true,
  schema: firewallRuleSchema,
  createOnly: ["protocol"],
  defaults: { type: "INGRESS" },
  spans: { create: [1, 3], update: [1, 3], delete: [1, 3] },

  shape: (draft) => checkPorts(draft.next, draft.fault),
};

const unrouted = { collection: "", item: "" };

export const securityGroup: Kind = {
  type: "security-group",
  collection: "securitygroups",
  param: "securityGroupId",
  parents: ["datacenter"],
  verbs: { collection: "GP", item: "GUAD" },
  paged: true,
  schema: z.object({ name: z.string().min(1).max(60), description: z.string().max(300).nullish() }),
  defaults: { description: "" },
  privilege: "createNetworkSecurityGroups",
  spans: { create: [1, 3], update: [2, 4], delete: [2, 4] },
  links: [
    { collection: "nics", type: "nic", param: "nicId", verbs: unrouted },
    { collection: "servers", type: "server", param: "serverId", verbs: unrouted },
  ],

  shape({ world, parent, previous }) {
    if (previous === null && parent !== null) checkRoomForGroup(world, parent.key);
  },

  guard(world, { id, parent }, write) {
    if (write === "delete" && world.resources.get(parent)?.properties.defaultSecurityGroupId === id) {
      throw refused(
        `[VDC-14-70] The security group ${id} is the default of its datacenter; choose another defaultSecurityGroupId first`,
      );
    }
  },
};

/** Refuses one more security group in a datacenter that has as many as the contract allows. */
export function checkRoomForGroup(world: World, datacenter: string): void {
  const groups = [...world.resources.children(datacenter, securityGroup.collection)];
  checkLimit(world, "securityGroupsPerVdc", groups.length + 1, "security groups in a datacenter");
}

/** A rule of a security group: a firewall rule in another place. */
export const securityGroupRule: Kind = {
  ...firewallRule,
  type: "security-group-rule",
  wireType: firewallRule.type,
  collection: "rules",
  param: "ruleId",
  parents: [securityGroup.type],

  shape(draft) {
    const { world, parent, previous } = draft;
    if (previous === null && parent !== null) {
      const rules = [...world.resources.children(parent.key, "rules")];
      checkLimit(world, "rulesPerSecurityGroup", rules.length + 1, "rules in a security group");
    }
    firewallRule.shape?.(draft);
  },
};

/** The security groups of a server or a NIC. */
export const assignedSecurityGroups: Link = {
  collection: "securitygroups",
  type: "security-group",
  param: "securityGroupId",
  verbs: { collection: "U", item: "" },
  shared: true,
  attach(world, holder, group) {
    const assigned = holder.refs.filter((ref) => world.resources.get(ref)?.type === group.type);
    checkLimit(world, "securityGroupsPerResource", assigned.length + 1, `security groups on a ${holder.type}`);
    return { properties: holder.properties, refs: [...holder.refs, group.key] };
  },
};
