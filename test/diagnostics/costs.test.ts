import { expect, it } from "vitest";
import { costs } from "../../src/diagnostics/overview/costs.ts";
import type { PlatformReader } from "../../src/diagnostics/reader.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { clusterOf } from "../tools/landscape.ts";

const object = (kind: string, name: string, spec: object): KubeObject => ({
  apiVersion: "mooring.dev/v1alpha1",
  kind,
  metadata: { name, namespace: "shop" },
  spec,
  status: { id: name, account: "shop/main" },
});

const product = {
  meterId: "S1",
  meterDesc: "1h of 1 GB HDD",
  type: "STORAGE",
  unitCost: { quantity: 0.001, unit: "EUR" },
};
const platform: PlatformReader = {
  read: async () => ({ status: 200, headers: {}, body: { products: [product] } }),
  endpoint: () => "https://api.example",
  has: () => true,
  identity: undefined,
  contractNumber: 1,
  now: () => 0,
  storageKeys: () => Promise.reject(new Error("no keys")),
  storageRegion: undefined,
};

const costsOf = (...objects: KubeObject[]) =>
  costs(
    {
      platform: async () => platform,
      cluster: async () => clusterOf(objects),
      now: () => 0,
      signal: new AbortController().signal,
      progress: () => {},
    },
    { namespace: "shop", by: "kind" },
  );

it("objects that are not priced are named, or their kind if none of it is priced", async () => {
  const found = await costsOf(
    object("Volume", "data", { size: 10, type: "HDD" }),
    object("Volume", "adopted", {}),
    object("Lan", "front", {}),
    object("Lan", "back", {}),
  );
  expect(found.per_month).toBe(7.3);
  expect(found.not_priced).toEqual(["Lan", "Volume/shop/adopted"]);
});

it("at most ten objects of a kind are named", async () => {
  const adopted = Array.from({ length: 12 }, (_, at) => object("Volume", `v${at}`, {}));
  const { not_priced } = await costsOf(object("Volume", "data", { size: 10, type: "HDD" }), ...adopted);
  expect(not_priced).toHaveLength(11);
  expect(not_priced.at(-1)).toBe("2 more of kind Volume");
});
