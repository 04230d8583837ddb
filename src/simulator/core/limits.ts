import { z } from "zod";
import { refused } from "../http/refusal.ts";
import type { World } from "../world.ts";

const count = z.int().min(0);

/** What the contract may use. RAM and disks in MB, as on the wire. */
export const limitsSchema = z.object({
  coresPerServer: count.default(62),
  coresPerContract: count.default(20_000),
  ramPerServer: count.default(235_520),
  ramPerContract: count.default(100_000_000),
  hddLimitPerVolume: count.default(4_194_304),
  hddLimitPerContract: count.default(2_000_000_000),
  ssdLimitPerVolume: count.default(4_194_304),
  ssdLimitPerContract: count.default(2_000_000_000),
  reservableIps: count.default(1_000),
  k8sClusterLimitTotal: count.default(100),
  nlbLimitTotal: count.default(100),
  natGatewayLimitTotal: count.default(100),
  securityGroupsPerVdc: count.default(100),
  securityGroupsPerResource: count.default(10),
  rulesPerSecurityGroup: count.default(100),
});

export type Limits = z.infer<typeof limitsSchema>;

const generous = limitsSchema.parse({});

export const limitsOf = (world: World): Limits => world.limits.get("contract") ?? generous;

/** Does a write and refuses it with the platform's quota message when it raised a use above the contract's limit. */
export function withinQuota<R>(world: World, write: () => R): R {
  const before = budgets(world);
  const result = write();
  for (const [index, budget] of budgets(world).entries()) {
    if (budget.amount <= budget.allowed || budget.amount <= (before[index]?.amount ?? 0)) continue;
    throw refused(
      `[VDC-21-8] Quota exceeded: the contract's limit ${budget.limit} is ${budget.allowed} ${budget.unit}, ` +
        `this would make ${budget.amount}`,
    );
  }
  return result;
}

function budgets(world: World) {
  const limits = limitsOf(world);
  const used = world.usage.counts();
  const budget = (limit: keyof Limits, amount: number, unit: string) => ({
    limit,
    allowed: limits[limit],
    amount,
    unit,
  });
  return [
    budget("coresPerContract", used.coresProvisioned, "cores"),
    budget("ramPerContract", used.ramProvisioned, "MB of RAM"),
    budget("hddLimitPerContract", used.hddVolumeProvisioned, "MB of HDD storage"),
    budget("ssdLimitPerContract", used.ssdVolumeProvisioned, "MB of SSD storage"),
    budget("reservableIps", used.reservedIpsOnContract, "reserved IP addresses"),
  ];
}
