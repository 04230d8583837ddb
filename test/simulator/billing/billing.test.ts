import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { meters } from "../../../src/simulator/billing/meters.ts";
import { refusal, resource, serverBody, startPlatform } from "../platform.ts";

const data = mkdtempSync(join(tmpdir(), "simulator-billing-"));
let platform = await startPlatform({ data });
afterAll(async () => {
  await platform.close();
  rmSync(data, { recursive: true, force: true });
});
const { contractNumber } = platform.ready;
const oneDay = 86_400;

const billing = async (path: string) => {
  const answer = await platform.call("GET", `/billing${path}`);
  expect(answer, path).toMatchObject({ status: 200 });
  return answer.body;
};
const own = (path: string) => billing(`/${contractNumber}${path}`);
const now = async () => Date.parse(z.looseObject({ now: z.string() }).parse(await platform.steer("GET", "state")).now);

const money = z.object({ quantity: z.number(), unit: z.literal("EUR") });
const counted = z.object({ quantity: z.number(), unit: z.string() });
const invoiceShape = z.looseObject({
  metadata: z.looseObject({ invoiceId: z.string(), finallyPosted: z.boolean(), postingPeriod: z.string() }),
  datacenters: z.array(
    z.looseObject({
      id: z.string(),
      meters: z.array(z.looseObject({ meterId: z.string(), quantity: counted, rate: money, amount: money })),
    }),
  ),
  total: money,
});
const invoicesShape = z.object({
  metadata: z.object({ contractId: z.string(), customerId: z.string() }),
  invoices: z.array(z.object({ id: z.string(), date: z.string(), amount: z.number(), unit: z.literal("EUR") })),
});
const utilizationShape = z.looseObject({
  datacenters: z.array(
    z.looseObject({
      id: z.string(),
      meters: z.array(
        z.looseObject({
          meterId: z.string(),
          resourceId: z.string(),
          type: z.string(),
          exists: z.boolean(),
          quantity: counted,
        }),
      ),
    }),
  ),
});
const usageShape = z.looseObject({
  datacenters: z.array(
    z.looseObject({
      meters: z.array(
        z.looseObject({ meterId: z.string(), quantity: z.object({ quantity: z.string(), unit: z.string() }) }),
      ),
    }),
  ),
});
const evnShape = z.looseObject({
  datacenters: z.array(
    z.looseObject({
      data: z.array(
        z.looseObject({
          itemStub: z.string(),
          intervalMin: z.number(),
          intervalDivisor: z.number(),
          value: z.number(),
          valueDivisor: z.number(),
        }),
      ),
    }),
  ),
  evnCSV: z.array(z.string()),
});
const day = z.object({ Date: z.string(), In: z.number(), Out: z.number() });
const trafficShape = z.looseObject({
  trafficObj: z.object({
    vdc: z.array(z.looseObject({ dates: z.array(day) })),
    nic: z.array(z.looseObject({ ip: z.string(), dates: z.array(day) })),
  }),
});
const productsShape = z.looseObject({
  products: z.array(
    z.looseObject({ meterId: z.string(), unitCost: z.object({ quantity: z.string(), unit: z.string() }) }),
  ),
});

/** Sums by meter. */
function sums(entries: Iterable<[string, number]>): Record<string, number> {
  const totals: Record<string, number> = {};
  for (const [meterId, quantity] of entries) totals[meterId] = (totals[meterId] ?? 0) + quantity;
  return totals;
}
const used = async (path: string) =>
  sums(
    utilizationShape
      .parse(await own(path))
      .datacenters.flatMap((each) => each.meters.map((one): [string, number] => [one.meterId, one.quantity.quantity])),
  );
function expectEqual(actual: Record<string, number>, expected: Record<string, number>): void {
  expect(Object.keys(actual).sort()).toEqual(Object.keys(expected).sort());
  for (const [meterId, quantity] of Object.entries(expected)) expect(actual[meterId], meterId).toBeCloseTo(quantity, 3);
}

/** A month with a server for ten days, whose volume grows after five, and an address for the whole month. */
const start = await now();
const first = new Date(start);
const monthBegin = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1);
const period = new Date(monthBegin).toISOString().slice(0, 7);
await platform.advance((monthBegin - start) / 1000 + 3600);
const block = await platform.made("/ipblocks", { properties: { name: "public", location: "de/fra", size: 2 } });
const datacenter = await platform.datacenter();
await platform.made(`${datacenter}/lans`, { properties: { name: "front", public: true } });
const built = resource(await platform.done("POST", `${datacenter}/servers`, serverBody()));
const server = `${datacenter}/servers/${built.id}`;
const volumeId = String(built.entities?.volumes?.items?.[0]?.id);
await platform.advance(5 * oneDay);
await platform.done("PATCH", `${datacenter}/volumes/${volumeId}`, { size: 100 });
await platform.advance(5 * oneDay);
await platform.done("DELETE", `${server}?deleteVolumes=true`);
await platform.advance(25 * oneDay);

const invoice = () => billing(`/invoices/${period}`).then((body) => z.tuple([invoiceShape]).parse(body)[0]);

describe("a month", () => {
  it("counts what was there, for as long as it was, in the size that it had", async () => {
    const { cores = 0, ram = 0 } = z.looseObject({ cores: z.number(), ram: z.number() }).parse(built.properties);
    const month = await used(`/utilization/${period}`);
    expect(month.C02000 ?? month.C01000).toBeCloseTo(cores * 240, -1);
    expect(month.R01000).toBeCloseTo((ram / 1024) * 240, -1);
    const hours = (Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 2) - monthBegin) / 3_600_000;
    expect(month.IP1000).toBeCloseTo(2 * (hours - 1), -1);
    const volumes = utilizationShape
      .parse(await own(`/utilization/${period}?resource=${volumeId}`))
      .datacenters.flatMap((each) => each.meters);
    expect(volumes).toHaveLength(2);
    expect(volumes.every(({ type, exists }) => type === "STORAGE" && !exists)).toBe(true);
    expect(volumes[1]?.quantity.quantity).toBeCloseTo(100 * 120, -2);
  });

  it("is the sum of its days", async () => {
    const days: [string, number][] = [];
    for (let at = monthBegin; new Date(at).toISOString().startsWith(period); at += oneDay * 1000) {
      days.push(...Object.entries(await used(`/utilization/daily/${new Date(at).toISOString().slice(0, 10)}`)));
    }
    expectEqual(sums(days), await used(`/utilization/${period}`));
  });

  it("has an invoice whose lines are quantity times rate, and whose total is their sum", async () => {
    const { datacenters, total, metadata } = await invoice();
    expect(metadata).toMatchObject({ postingPeriod: period, finallyPosted: true });
    const lines = datacenters.flatMap((each) => each.meters);
    for (const { quantity, rate, amount } of lines) {
      expect(amount.quantity).toBe(Number((quantity.quantity * rate.quantity).toFixed(2)));
    }
    expect(total.quantity).toBeCloseTo(
      lines.reduce((sum, { amount }) => sum + amount.quantity, 0),
      9,
    );
    expect(total.quantity).toBeGreaterThan(10);
    expectEqual(
      sums(lines.map(({ meterId, quantity }) => [meterId, quantity.quantity])),
      await used(`/utilization/${period}`),
    );
    const products = new Map(
      productsShape.parse(await own("/products")).products.map((each) => [each.meterId, each.unitCost.quantity]),
    );
    expect(products.size).toBe(Object.keys(meters).length);
    for (const { meterId, rate } of lines) expect(products.get(meterId)).toBe(String(rate.quantity));
    const { invoices } = invoicesShape.parse(await own("/invoices"));
    const listed = invoices.find(({ id }) => id === metadata.invoiceId);
    expect(listed?.amount).toBe(total.quantity);
    expect(await own(`/invoices/${metadata.invoiceId}`)).toEqual(await invoice());
    expect(await billing(`/invoices/${period}?contractid=1`)).toEqual([]);
  });

  it("has an itemised list that says the same", async () => {
    const { datacenters, evnCSV } = evnShape.parse(await own(`/evn/${period}`));
    const lines = datacenters.flatMap((each) => each.data);
    const totals = lines.map((line): [string, number] => [
      line.itemStub,
      ((line.value / line.valueDivisor) * line.intervalMin) / line.intervalDivisor,
    ]);
    expectEqual(sums(totals), await used(`/utilization/${period}`));
    expect(evnCSV).toHaveLength(lines.length + 1);
  });

  it("has the traffic of public NICs by day, which is what the invoice counts", async () => {
    const { vdc, nic } = trafficShape.parse(await own(`/traffic/${period}`)).trafficObj;
    const [only] = nic;
    expect(nic).toHaveLength(1);
    expect(vdc[0]?.dates).toEqual(only?.dates);
    expect(only?.dates).toHaveLength(11);
    const gigabytes = (only?.dates ?? []).reduce((sum, { Out }) => sum + Out, 0) / 1e9;
    expect((await used(`/utilization/${period}`)).TO1000).toBeCloseTo(gigabytes, 3);
    expect(trafficShape.parse(await own(`/traffic/${period}?ip=192.0.2.1`)).trafficObj.nic).toEqual([]);
  });
});

describe("the running month", () => {
  it("has a draft, and its usage is the utilization by meter", async () => {
    const [draft] = invoicesShape.parse(await own("/invoices")).invoices;
    expect(invoiceShape.parse(await own(`/invoices/${draft?.id}`)).metadata.finallyPosted).toBe(false);
    const usage = usageShape.parse(await own("/usage")).datacenters.flatMap((each) => each.meters);
    const quantities = usage.map((one): [string, number] => [one.meterId, Number(one.quantity.quantity)]);
    expectEqual(sums(quantities), { IP1000: (await used("/utilization")).IP1000 ?? 0 });
    expect(usageShape.parse(await own(`/usage/${datacenter.split("/").at(-1)}`)).datacenters).toEqual([]);
    expect(evnShape.parse(await own("/evn")).datacenters).toHaveLength(1);
    expect(trafficShape.parse(await own("/traffic")).trafficObj.nic).toEqual([]);
  });
});

it("a restart changes nothing of it", async () => {
  // The clock is saved with each change.
  await platform.datacenter();
  const before = await invoice();
  await platform.close();
  platform = await startPlatform({ data });
  expect(await invoice()).toEqual(before);
  await platform.done("DELETE", block);
  expect(await invoice()).toEqual(before);
  const [address] = utilizationShape.parse(await own("/utilization")).datacenters.flatMap((each) => each.meters);
  expect(address).toMatchObject({ meterId: "IP1000", exists: false });
});

describe("is refused", () => {
  it.each([
    ["another contract", "/1/invoices", 403, "451"],
    ["an invoice that is not there", `/${contractNumber}/invoices/RE0`, 404, "309"],
    ["a period that is none", "/invoices/2026-13", 422, "100"],
    ["a day that is none", `/${contractNumber}/utilization/daily/2026-02-30`, 422, "100"],
    ["a datacenter that is not there", `/${contractNumber}/usage/none`, 404, "309"],
  ])("%s", async (_, path, status, code) => {
    refusal(await platform.call("GET", `/billing${path}`), status, code);
  });

  it("a plain user", async () => {
    const { token } = await platform.user("plain@example.org", { privileges: [] });
    const authorization = `Bearer ${token}`;
    refusal(await platform.call("GET", "/billing/profile", undefined, { authorization }), 403, "451");
  });
});

it("the profile names the contract with leading zeros", async () => {
  expect(await billing("/profile")).toEqual({
    companies: [
      { contractId: String(contractNumber).padStart(10, "0"), customerId: expect.stringMatching(/^\d{10}$/) },
    ],
  });
});
