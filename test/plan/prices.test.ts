import { expect, it } from "vitest";
import type { PlatformReader } from "../../src/diagnostics/reader.ts";
import type { PlanItem } from "../../src/plan/item.ts";
import { priceAll } from "../../src/plan/prices.ts";

const product = (meterId: string, type: string, meterDesc: string, quantity: string) => ({
  meterId,
  type,
  meterDesc,
  unitCost: { quantity, unit: "EUR" },
});
const products = [product("core", "SERVER", "1 vCPU core", "0.01"), product("ram", "SERVER", "1 GB RAM", "0.005")];
const platform = {
  endpoint: () => "http://api.example",
  contractNumber: 7,
  read: async () => ({ body: { products } }),
} as unknown as PlatformReader;

const adopted = (kind: string, spec: object): PlanItem => ({
  kind,
  namespace: "shop",
  name: "app",
  action: "adopt",
  writes: false,
  fields: [],
  after: [],
  spec,
});

it("has no price for what spec does not say, instead of one of zero", async () => {
  const known = adopted("Server", { type: "VCPU", cores: 2, ram: 1024 });
  const unknown = adopted("Server", { type: "VCPU", externalId: "id" });
  const { months, cost } = await priceAll([known, unknown], platform, new AbortController().signal);
  expect(months.get(known)?.after).toBeGreaterThan(0);
  expect(months.has(unknown)).toBe(false);
  expect(cost.notPriced).toEqual([{ object: "Server app", why: "cores, RAM, GB" }]);
});
