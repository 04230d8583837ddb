import { z } from "zod";
import { refused } from "../http/refusal.ts";
import type { Table } from "../store/documents.ts";
import type { Usage } from "./usage.ts";

/** The largest server of each type, and its memory in MB. */
export const mostCores = { ENTERPRISE: 62, VCPU: 60 } as const;
export const mostRam = 235_520;

const count = z.int().min(0);

/** The limits of the contract. RAM and disks in MB, as on the wire. */
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
  /** Calls to models in real time. The core API does not show them. */
  inference: z
    .object({
      perSecond: z.number().positive().default(5),
      burst: z.int().min(1).default(10),
      imagesPerMinute: z.number().positive().default(10),
      imagesBurst: z.int().min(1).default(20),
    })
    .prefault({}),
});

export type Limits = z.infer<typeof limitsSchema>;
type Quota = Exclude<keyof Limits, "inference">;

/** The part of the world with the limits and their usage. */
interface Limited {
  limits: Table<Limits>;
  usage: Usage;
}

const defaultLimits = limitsSchema.parse({});

export const limitsOf = ({ limits }: Pick<Limited, "limits">): Limits => limits.get("contract") ?? defaultLimits;

/** Runs a write. Refuses it with the platform's quota message if it raises a usage above the contract's limit. */
export function withinQuota<R>(world: Limited, write: () => R): R {
  const before = budgets(world);
  const result = write();
  for (const [index, budget] of budgets(world).entries()) {
    if (budget.amount > (before[index]?.amount ?? 0)) checkLimit(world, budget.limit, budget.amount, budget.unit);
  }
  return result;
}

/** Refuses an amount above one of the contract's limits with the platform's quota message. */
export function checkLimit(world: Pick<Limited, "limits">, limit: Quota, amount: number, unit: string): void {
  const allowed = limitsOf(world)[limit];
  if (amount <= allowed) return;
  throw refused(
    `[VDC-21-8] Quota exceeded: the contract's limit ${limit} is ${allowed} ${unit}, this would make ${amount}`,
  );
}

function budgets({ usage }: Limited) {
  const used = usage.counts();
  const budget = (limit: Quota, amount: number, unit: string) => ({ limit, amount, unit });
  return [
    budget("coresPerContract", used.coresProvisioned, "cores"),
    budget("ramPerContract", used.ramProvisioned, "MB of RAM"),
    budget("hddLimitPerContract", used.hddVolumeProvisioned, "MB of HDD storage"),
    budget("ssdLimitPerContract", used.ssdVolumeProvisioned, "MB of SSD storage"),
    budget("reservableIps", used.reservedIpsOnContract, "reserved IP addresses"),
    budget("k8sClusterLimitTotal", used.k8sClustersProvisioned, "Kubernetes clusters"),
    budget("nlbLimitTotal", used.nlbProvisioned, "Network Load Balancers"),
    budget("natGatewayLimitTotal", used.natGatewayProvisioned, "NAT gateways"),
  ];
}
