import { models } from "../inference/models.ts";
import type { Direction } from "../records/billing.ts";

/** The meters and the price of one unit. The platform publishes no list: the prices are the simulator's own. */
export interface Meter {
  desc: string;
  /** `1h` counts an amount for as long as it exists; `1GB` counts bytes that were sent, `1M tokens` what models read and wrote. */
  unit: "1h" | "1GBh" | "1GB" | "1M tokens";
  type: string;
  productGroup: string;
  /** EUR per unit. */
  cost: number;
}

const perHour = (desc: string, type: string, productGroup: string, cost: number): Meter => ({
  desc,
  unit: "1h",
  type,
  productGroup,
  cost,
});
const perGigabyteHour = (desc: string, type: string, cost: number): Meter => ({
  desc,
  unit: "1GBh",
  type,
  productGroup: "Storage",
  cost,
});

/** The meter of a model's tokens; undefined where they cost nothing. */
export function tokenMeter(modelId: string, direction: Direction): string | undefined {
  const nth = models.findIndex(({ id, price }) => id === modelId && price !== undefined && price[direction] > 0);
  return nth < 0 ? undefined : `AI${nth + 1}${direction === "input" ? "100" : "200"}`;
}

const tokens = (["input", "output"] as const).flatMap((direction) =>
  models.flatMap(({ id, price }): [string, Meter][] => {
    const meterId = tokenMeter(id, direction);
    if (meterId === undefined) return [];
    const desc = `${direction === "input" ? "Input" : "Output"} tokens, ${id}`;
    return [
      [meterId, { desc, unit: "1M tokens", type: "INFERENCE", productGroup: "AI", cost: price?.[direction] ?? 0 }],
    ];
  }),
);

export const meters: Readonly<Record<string, Meter>> = {
  C01000: perHour("Core, AMD", "SERVER", "Compute", 0.04),
  C02000: perHour("Core, Intel", "SERVER", "Compute", 0.05),
  C03000: perHour("vCPU", "SERVER", "Compute", 0.02),
  R01000: { desc: "RAM", unit: "1GBh", type: "SERVER", productGroup: "Compute", cost: 0.005 },
  CU1100: perHour("Basic Cube XS", "CUBETEMPLATE", "Compute", 0.0084),
  CU1200: perHour("Basic Cube S", "CUBETEMPLATE", "Compute", 0.0167),
  CU1300: perHour("Basic Cube M", "CUBETEMPLATE", "Compute", 0.0334),
  CU1400: perHour("Basic Cube L", "CUBETEMPLATE", "Compute", 0.0667),
  CU1500: perHour("Basic Cube XL", "CUBETEMPLATE", "Compute", 0.1334),
  CU2200: perHour("Memory Cube S", "CUBETEMPLATE", "Compute", 0.0209),
  CU2300: perHour("Memory Cube M", "CUBETEMPLATE", "Compute", 0.0417),
  CU2400: perHour("Memory Cube L", "CUBETEMPLATE", "Compute", 0.0834),
  CU2500: perHour("Memory Cube XL", "CUBETEMPLATE", "Compute", 0.1667),
  S01000: perGigabyteHour("Block storage, HDD", "STORAGE", 0.00006),
  S02000: perGigabyteHour("Block storage, SSD Standard", "STORAGE", 0.00014),
  S03000: perGigabyteHour("Block storage, SSD Premium", "STORAGE", 0.00025),
  SN1000: perGigabyteHour("Snapshot", "SNAPSHOT", 0.00006),
  IP1000: perHour("Reserved IPv4 address", "IP", "Network", 0.007),
  NG1000: perHour("NAT gateway", "NATGATEWAY", "Network", 0.055),
  LB1000: perHour("Network Load Balancer", "LOADBALANCER", "Network", 0.062),
  LB2000: perHour("Application Load Balancer", "LOADBALANCER", "Network", 0.09),
  TI1000: { desc: "Traffic, inbound", unit: "1GB", type: "TRAFFIC", productGroup: "Network", cost: 0 },
  TO1000: { desc: "Traffic, outbound", unit: "1GB", type: "TRAFFIC", productGroup: "Network", cost: 0.03 },
  MO1000: perHour("Metric pipeline", "MONITORING", "Observability", 0.02),
  LO1000: perHour("Log pipeline", "LAAS", "Observability", 0.03),
  KA1000: perHour("Event streaming cluster, XS", "KAFKA", "Event streaming", 0.35),
  KA2000: perHour("Event streaming cluster, S", "KAFKA", "Event streaming", 0.6),
  KA3000: perHour("Event streaming cluster, M", "KAFKA", "Event streaming", 1.1),
  KA4000: perHour("Event streaming cluster, L", "KAFKA", "Event streaming", 2.1),
  KA5000: perHour("Event streaming cluster, XL", "KAFKA", "Event streaming", 4),
  DN1000: perHour("DNS zone", "DNS", "Network", 0.0007),
  ...Object.fromEntries(tokens),
};

export function meterOf(id: string): Meter {
  const meter = meters[id];
  if (meter === undefined) throw new Error(`there is no meter ${id}`);
  return meter;
}

/** The id of the meter with this name. */
export const meterNamed = (desc: string): string | undefined =>
  Object.entries(meters).find(([, meter]) => meter.desc === desc)?.[0];
