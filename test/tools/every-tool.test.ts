import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { usage } from "../../src/tools/shape/billing.ts";
import { pricesIn } from "../../src/tools/shape/money.ts";
import type { Row } from "../../src/tools/table/row.ts";
import { table } from "../../src/tools/table/table.ts";
import { buildLandscape } from "./landscape.ts";

const land = await buildLandscape();
afterAll(() => land.close());

/** Whether a value in a result is empty. */
const isEmpty = (value: unknown): boolean =>
  value === "" ||
  value === undefined ||
  (typeof value === "object" && value !== null && Object.keys(value).length === 0);

/** Values that would lead to another path or are not a path segment. */
const strays = [
  "../../um/users",
  "..",
  ".",
  "a/..",
  "%2e%2e",
  "a/%2E./x",
  "%252e%252e%252f",
  "a/b/../../x",
  "x?depth=9",
  "%2e%2e%2f",
  "\u0000",
  "a\r\nX-Evil: 1",
  "",
  "x".repeat(5000),
];
const noText = [7e30, null, {}, [[]]];

it("a summary of flow logs shows who talked to whom", async () => {
  const { structuredContent } = await land.call("get_flow_log_summary", { bucket: "flow-logs", since: "1d" });
  const sums = z.object({
    totals: z.object({ objects: z.number().positive(), badLines: z.literal(0) }),
    tops: z.array(z.unknown()),
  });
  expect(sums.parse(structuredContent).tops).toHaveLength(3);
});

it("an object that waits for another one leads to that", async () => {
  const { structuredContent } = await land.call("why_not_ready", { kind: "vol", name: "data" });
  expect(structuredContent).toMatchObject({
    answer: "Lan/shop/back does not exist",
    what_to_do: "Create Lan/shop/back, or correct the name.",
    waits_for: [{ object: "Server/shop/db", waits_for: [{ object: "Lan/shop/back", exists: false }] }],
  });
});

it("reports name what is wrong, and nothing else", async () => {
  const reportOf = async (name: string) => (await land.call(name)).structuredContent;
  // By the platform itself, not by the objects.
  expect(await reportOf("list_drift")).toMatchObject({
    items: expect.arrayContaining([
      expect.objectContaining({ kind: "Datacenter", drift: [{ field: "name", wanted: "prod", found: "shop" }] }),
    ]),
    read_at: expect.any(String),
    not_checked: expect.arrayContaining([expect.stringContaining("IPBlock/shop/gone: the platform does not show it")]),
  });
  expect(await reportOf("list_orphans")).toMatchObject({
    without_resource: [{ object: "IPBlock/shop/gone" }],
    without_object: expect.not.arrayContaining([expect.objectContaining({ kind: "Server", name: "web-1" })]),
  });
  expect(await reportOf("list_expiring")).toMatchObject({
    items: expect.arrayContaining([
      expect.objectContaining({ object: "AccessToken/shop/ci", what: "token", renews_itself: true }),
      expect.objectContaining({
        object: "Account/shop/main",
        what: "token of the Account",
        renews_itself: false,
        what_to_do: "put another token into Secret t",
      }),
    ]),
  });
});

it("usage is listed with its costs, the most expensive first, and items without a price by name", async () => {
  const row = table.find(({ name }) => name === "list_billing_utilization");
  if (!row) throw new Error("there is no such tool");
  const args = { ...(await land.argumentsFor(row)), top_n: 5 };
  const { structuredContent } = await land.call("list_billing_utilization", args);
  const { top_meters, total_cost, currency } = z
    .object({
      top_meters: z.array(z.looseObject({ cost: z.number() })).min(1),
      total_cost: z.number().positive(),
      currency: z.literal("EUR"),
    })
    .parse(structuredContent);
  const costs = top_meters.map(({ cost }) => cost);
  expect(costs).toEqual(costs.toSorted((a, b) => b - a));
  expect(total_cost).toBeGreaterThanOrEqual(Math.floor((costs[0] ?? 0) * 100) / 100);
  expect(currency).toBe("EUR");
  const answer = { datacenters: [{ id: "a", meters: [{ meterId: "X", quantity: { quantity: 2, unit: "1h" } }] }] };
  expect(usage(answer, {}, pricesIn({ products: [] }))).toMatchObject({ total_cost: 0, not_priced: ["X"] });
});

it("an estimate names what has no price", async () => {
  const manifest = JSON.stringify({ kind: "Volume", metadata: { name: "a" }, spec: { size: 100, type: "Tape" } });
  const { structuredContent } = await land.call("get_cost_estimate", { manifest });
  expect(structuredContent).toMatchObject({
    not_priced: [expect.stringMatching(/^Volume\/a: disk, Tape/)],
    currency: "EUR",
  });
});

it("an estimate is amount by price, by the hour", async () => {
  const manifest = JSON.stringify({ kind: "Volume", metadata: { name: "a" }, spec: { size: 100, type: "HDD" } });
  const { structuredContent } = await land.call("get_cost_estimate", { manifest });
  const { per_month, items } = z
    .object({
      per_month: z.number(),
      items: z.tuple([z.object({ lines: z.tuple([z.object({ unit_cost: z.number() })]) })]),
    })
    .parse(structuredContent);
  const [{ lines }] = items;
  expect(lines[0].unit_cost).toBeGreaterThan(0);
  expect(per_month).toBeCloseTo(100 * lines[0].unit_cost * 730, 2);
});

it("a plan tells what an apply would do, and writes nothing", async () => {
  const metadata = { name: "a", namespace: "shop" };
  const spec = { size: 2, location: "de/txl" };
  const manifest = JSON.stringify({ apiVersion: "mooring.dev/v1alpha1", kind: "IPBlock", metadata, spec });
  const { structuredContent } = await land.call("get_plan", { manifest });
  expect(structuredContent).toMatchObject({
    changes: true,
    validatedBy: "schemas",
    items: [{ kind: "IPBlock", name: "a", action: "create" }],
  });
});

describe("a plan that deletes", () => {
  const block = (name: string) =>
    JSON.stringify({
      apiVersion: "mooring.dev/v1alpha1",
      kind: "IPBlock",
      metadata: { name, namespace: "shop" },
      spec: { size: 1, location: "de/fra" },
    });

  it("has the objects with the labels of prune that the manifest lacks", async () => {
    const { structuredContent } = await land.call("get_plan", { manifest: block("a"), prune: "of=IPBlock" });
    expect(structuredContent).toMatchObject({
      items: [
        { name: "a", action: "create" },
        { name: "gone", action: "delete" },
      ],
    });
  });

  it("has the objects of the manifest with destroy", async () => {
    const { structuredContent } = await land.call("get_plan", { manifest: block("gone"), destroy: true });
    expect(structuredContent).toMatchObject({ items: [{ name: "gone", action: "delete" }] });
  });

  it("is of one kind", async () => {
    const both = { manifest: block("gone"), destroy: true, prune: "of=IPBlock" };
    const { isError, content } = await land.call("get_plan", both);
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain("prune and destroy exclude each other");
  });
});

describe("manifests of existing resources", () => {
  const answer = z.object({
    items: z.array(z.object({ kind: z.string(), name: z.string(), manifest: z.string() })),
    not_imported: z.array(z.object({ what: z.string(), why: z.string() })),
  });
  const asked = async (args: object) => answer.parse((await land.call("get_manifests", args)).structuredContent);
  const specOf = (manifest: string) => z.object({ spec: z.looseObject({}) }).parse(parse(manifest)).spec;

  it("only observe, are valid as they stand, and a plan of them writes nothing", async () => {
    const { items } = await asked({ kinds: ["IPBlock", "snapshots"], namespace: "other" });
    expect(new Set(items.map(({ kind }) => kind))).toEqual(new Set(["IPBlock", "Snapshot"]));
    for (const { manifest } of items) expect(specOf(manifest)).toMatchObject({ managementPolicy: "Observe" });
    const manifest = items.map((each) => each.manifest).join("---\n");
    const { structuredContent } = await land.call("get_plan", { manifest });
    const plan = z
      .object({ items: z.array(z.object({ writes: z.boolean(), message: z.string().nullable() })) })
      .parse(structuredContent);
    expect(plan.items).toHaveLength(items.length);
    expect(plan.items.filter(({ writes }) => writes)).toEqual([]);
  });

  it("manage their resources when that is asked for", async () => {
    const { items } = await asked({ kinds: ["IPBlock"], manage: true });
    expect(items.length).toBeGreaterThan(0);
    for (const { manifest } of items) expect(specOf(manifest)).not.toHaveProperty("managementPolicy");
  });

  it("leave out what an object has, and a kind that nobody knows is refused", async () => {
    const { items, not_imported } = await asked({ kinds: ["Server"] });
    expect(items.map(({ name }) => name)).not.toContain("web-1");
    expect(not_imported).toContainEqual({ what: expect.any(String), why: "Server/shop/web has it already" });
    const { isError, content } = await land.call("get_manifests", { kinds: ["Pod"] });
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain('there is no kind "Pod"');
  });
});

it("an object that is not there is looked for with a tool, not with a command", async () => {
  const { isError, content } = await land.call("why_not_ready", { kind: "Server", name: "zzz", namespace: "shop" });
  expect({ isError, text: content[0]?.text }).toEqual({
    isError: true,
    text: "there is no Server zzz (namespace shop); list_custom_resources shows what there is",
  });
});

it("an estimate tells what a million tokens of each model cost", async () => {
  const models = ["openai/gpt-oss-120b"];
  const manifest = JSON.stringify({ kind: "InferenceAccess", metadata: { name: "a" }, spec: { models } });
  const { structuredContent } = await land.call("get_cost_estimate", { manifest });
  expect(structuredContent).toMatchObject({
    per_month: 0,
    items: [
      {
        lines: [
          { what: "million input tokens, openai/gpt-oss-120b", unit_cost: 0.15 },
          { what: "million output tokens, openai/gpt-oss-120b", unit_cost: 0.65 },
        ],
      },
    ],
  });
});

it("nothing of all this has changed anything on the platform", async () => {
  const requests = async () => (await land.call("list_requests")).structuredContent?.items;
  const before = await requests();
  for (const row of table) await land.call(row.name, await land.argumentsFor(row));
  expect(await requests()).toEqual(before);
});

const rows = table.map((row): [string, Row] => [row.name, row]);

describe.each(rows)("%s", (name, row) => {
  it("answers with what its schema says, and no secret", async () => {
    const args = await land.argumentsFor(row);
    const { isError, content, structuredContent } = await land.call(name, args);
    const text = content[0]?.text ?? "";
    expect(isError, text).toBeUndefined();
    expect(row.result.safeParse(structuredContent).error).toBeUndefined();
    expect(isEmpty(structuredContent), text).toBe(false);
    for (const list of Object.values(structuredContent ?? {})) {
      if (Array.isArray(list) && ["items", "Buckets", "invoices"].some((known) => structuredContent?.[known] === list))
        expect(list, text.slice(0, 200)).not.toEqual([]);
    }
    const reported = text + JSON.stringify(structuredContent);
    for (const secret of land.secrets) expect(reported.includes(secret)).toBe(false);
    expect(reported).not.toMatch(/PRIVATE KEY|canary|eyJ[\w-]{20,}\.eyJ/);
  });

  it("refuses arguments that it does not have", async () => {
    const args = await land.argumentsFor(row);
    const { isError, content } = await land.call(name, { ...args, surprise: 1 });
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain('Unrecognized key: "surprise"');
  });
});

const requiredOf = ({ args }: Row) =>
  Object.entries(args.shape).flatMap(([key, schema]) =>
    schema instanceof z.ZodType && !schema.safeParse(undefined).success ? [key] : [],
  );

describe.each(rows.filter(([, row]) => requiredOf(row).length > 0))("%s", (name, row) => {
  const required = requiredOf(row);

  it("says which arguments are missing", async () => {
    const { isError, content } = await land.call(name, {});
    expect(isError).toBe(true);
    for (const key of required) expect(content[0]?.text).toContain(key);
  });

  it("refuses hostile arguments, and nothing leads to another path", async () => {
    const args = await land.argumentsFor(row);
    const path = "read" in row.work ? row.work.read.path : "";
    for (const key of required) {
      for (const value of path.includes(`{${key}}`) ? [...strays, ...noText] : noText) {
        const { isError, content } = await land.call(name, { ...args, [key]: value });
        expect(isError, `${key}: ${JSON.stringify(value)}`).toBe(true);
        expect(content[0]?.text.length).toBeLessThan(2000);
      }
    }
  });
});
