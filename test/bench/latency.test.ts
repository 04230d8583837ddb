import { describe, expect, it } from "vitest";
import { criticalPath, doneToReady, quantile, readyToNext, type Seen } from "../../bench/latency/critical-path.ts";
import { referencesIn } from "../../bench/latency/landscape.ts";

const seen = (name: string, after: string[], work: [number, number][], readyAt: number): Seen => ({
  name,
  after,
  work: work.map(([begin, end]) => ({ begin, end })),
  readyAt,
});

const landscape = [
  seen(
    "Volume/data",
    ["Server/web"],
    [
      [9_100, 12_100],
      [13_000, 15_000],
    ],
    15_500,
  ),
  seen("Datacenter/shop", [], [[100, 2_100]], 3_000),
  seen("Server/web", ["Datacenter/shop", "IPBlock/shop"], [[3_050, 8_050]], 9_000),
  seen("IPBlock/shop", [], [[100, 1_100]], 1_500),
];

describe("the platform's critical path", () => {
  it("is the longest way, without the time between an end and the next begin", () => {
    expect(criticalPath(landscape)).toEqual({ ms: 12_000, names: ["Datacenter/shop", "Server/web", "Volume/data"] });
  });

  it("of nothing is nothing", () => {
    expect(criticalPath([])).toEqual({ ms: 0, names: [] });
  });
});

it("the time that the operator adds is from the end of the last write to Ready, and from there to the next write", () => {
  const endless = seen("ScalingGroup/workers", [], [[3_050, 3_050]], 12_000);
  expect(doneToReady([...landscape, endless])).toEqual([500, 900, 950, 400]);
  expect(readyToNext(landscape)).toEqual([100, 50]);
});

it("an object depends on those that its spec names, at any depth", () => {
  const spec = {
    datacenterRef: { name: "shop" },
    nics: [{ lanRef: { name: "back" } }],
    userDataSecretRef: { name: "boot" },
  };
  expect(referencesIn(spec)).toEqual(["Datacenter/shop", "Lan/back"]);
});

it("99 of 100 values are below the 99th quantile", () => {
  const values = Array.from({ length: 100 }, (_, n) => n);
  expect([quantile(values, 0.5), quantile(values, 0.99), quantile([7], 0.99)]).toEqual([50, 99, 7]);
});
