import type { Kind } from "../kind/kind.ts";
import { checkPorts, firewallRuleSchema } from "./traffic-fields.ts";

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
