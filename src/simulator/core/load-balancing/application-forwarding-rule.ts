import { z } from "zod";
import { ipv4, milliseconds, port } from "../../records/fields.ts";
import type { Draft, Kind } from "../kind/kind.ts";
import { referred } from "../kind/reference.ts";
import { checkRuleAddress } from "../network/address-use.ts";
import { httpRule } from "./http-rule.ts";

/** A rule of an Application Load Balancer. */
export const applicationForwardingRule: Kind = {
  type: "application-forwarding-rule",
  wireType: "forwarding-rule",
  collection: "forwardingrules",
  param: "forwardingRuleId",
  parents: ["applicationloadbalancer"],
  verbs: { collection: "GP", item: "GUAD" },
  paged: false,
  schema: z.object({
    name: z.string().min(1),
    protocol: z.enum(["HTTP"]),
    listenerIp: ipv4,
    listenerPort: port,
    clientTimeout: milliseconds.nullish(),
    serverCertificates: z.array(z.string()).nullish(),
    httpRules: z.array(httpRule).nullish(),
  }),
  defaults: { clientTimeout: 50_000, serverCertificates: [], httpRules: [] },
  spans: { create: [1, 3], update: [1, 3], delete: [1, 3] },

  shape(draft) {
    checkRuleAddress(draft, "listenerIp", "ips");
    shapeHttpRules(draft);
  },
};

/** Names are unique, and a rule that forwards refers to its target group. */
function shapeHttpRules(draft: Draft): void {
  const rules = z.array(z.object({ name: z.string(), targetGroup: z.string().nullish() })).parse(draft.next.httpRules);
  const names = rules.map(({ name }) => name);
  const groups = new Set<string>();
  for (const [index, { name, targetGroup }] of rules.entries()) {
    if (names.indexOf(name) < index) draft.fault(`httpRules[${index}].name`, `"${name}" is the name of another rule`);
    if (typeof targetGroup !== "string") continue;
    const group = referred(draft, `targetgroups/${targetGroup}`);
    if (group !== undefined) groups.add(group.key);
    else draft.fault(`httpRules[${index}].targetGroup`, `the target group ${targetGroup} does not exist`);
  }
  draft.refs = [...groups];
}
