import { z } from "zod";
import { algorithm, ipv4, milliseconds, port, target, weight, withDefault } from "../../records/fields.ts";
import type { Kind } from "../kind/kind.ts";
import { checkRuleAddress } from "../network/address-use.ts";

const targetHealthCheck = z.object({
  check: withDefault(z.boolean(), true),
  checkInterval: withDefault(milliseconds, 2000),
  maintenance: withDefault(z.boolean(), false),
});

const healthCheck = z.object({
  clientTimeout: withDefault(milliseconds, 50_000),
  connectTimeout: withDefault(milliseconds, 5000),
  targetTimeout: withDefault(milliseconds, 50_000),
  retries: withDefault(z.int().min(0), 3),
});

/** A rule of a Network Load Balancer. */
export const networkForwardingRule: Kind = {
  type: "network-forwarding-rule",
  wireType: "forwarding-rule",
  collection: "forwardingrules",
  param: "forwardingRuleId",
  parents: ["networkloadbalancer"],
  verbs: { collection: "GP", item: "GUAD" },
  paged: false,
  schema: z.object({
    name: z.string().min(1),
    algorithm,
    protocol: z.enum(["TCP", "HTTP"]),
    listenerIp: ipv4,
    listenerPort: port,
    targets: z.array(
      z.object({
        ...target,
        weight: withDefault(weight, 1),
        healthCheck: withDefault(targetHealthCheck, targetHealthCheck.parse({})),
      }),
    ),
    healthCheck: healthCheck.nullish(),
  }),
  defaults: { healthCheck: healthCheck.parse({}) },
  spans: { create: [1, 3], update: [1, 3], delete: [1, 3] },
  shape: (draft) => checkRuleAddress(draft, "listenerIp", "ips"),
};
