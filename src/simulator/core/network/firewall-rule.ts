import { checkPorts, firewallRuleSchema } from "../kind/fields.ts";
import type { Kind } from "../kind/kind.ts";

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
