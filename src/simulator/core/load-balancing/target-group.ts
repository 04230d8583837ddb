import { z } from "zod";
import { refused } from "../../http/refusal.ts";
import { algorithm, milliseconds, target, weight, withDefault } from "../../records/fields.ts";
import type { Kind } from "../kind/kind.ts";

const healthCheck = z.object({
  checkTimeout: milliseconds.nullish(),
  checkInterval: withDefault(milliseconds, 2000),
  retries: withDefault(z.int().min(0), 3),
});

export const groupTarget = z.object({
  ...target,
  weight,
  healthCheckEnabled: withDefault(z.boolean(), true),
  maintenanceEnabled: withDefault(z.boolean(), false),
});

/** Targets that rules of Application Load Balancers forward to; belongs to no datacenter. */
export const targetGroup: Kind = {
  type: "target-group",
  collection: "targetgroups",
  param: "targetGroupId",
  parents: [""],
  verbs: { collection: "GP", item: "GUAD" },
  paged: true,
  schema: z.object({
    name: z.string().min(1),
    algorithm,
    protocol: z.enum(["HTTP"]),
    protocolVersion: z.enum(["HTTP1", "HTTP2"]).nullish(),
    targets: z.array(groupTarget).nullish(),
    healthCheck: healthCheck.nullish(),
    httpHealthCheck: z
      .object({
        path: withDefault(z.string(), "/"),
        method: z.enum(["HEAD", "PUT", "POST", "GET", "TRACE", "PATCH", "OPTIONS"]).nullish(),
        matchType: z.enum(["STATUS_CODE", "RESPONSE_BODY"]),
        response: z.string(),
        regex: withDefault(z.boolean(), false),
        negate: withDefault(z.boolean(), false),
      })
      .nullish(),
  }),
  defaults: { targets: [], healthCheck: healthCheck.parse({}) },
  spans: { create: [1, 3], update: [1, 3], delete: [1, 3] },

  guard(world, { key }, write) {
    const [rule] = write === "delete" ? world.resources.referrers(key, "application-forwarding-rule") : [];
    if (rule === undefined) return;
    throw refused(
      `[VDC-14-41] The forwarding rule "${rule.properties.name}" (${rule.id}) of an Application Load Balancer ` +
        "forwards to the target group; change the rule first",
    );
  },
};
