import { expect, it } from "vitest";
import { openScreen } from "../../../src/cli/frame/screen.ts";
import { writePlan } from "../../../src/cli/plan/text.ts";
import { documentOf } from "../../../src/plan/document.ts";
import type { PlanItem } from "../../../src/plan/item.ts";
import { objectOf, readyCondition } from "../../engine/support/fixtures.ts";
import { runWith } from "../scripted-cluster.ts";
import { streams } from "../streams.ts";

const ID = "72e73b81-8551-4e74-b398-fc63b39994af";

it("mooring wait -o wide has the id, the Account and the message of each object, also of Ready ones", async () => {
  const ready = { ...readyCondition(), reason: "Available", message: "Datacenter is up to date" };
  const status = { id: ID, account: "shop/main", conditions: [ready] };
  const objects = { datacenters: [objectOf("Datacenter", "dc", { spec: {}, status })] };
  const usual = await runWith(objects, "wait datacenter/dc");
  expect(usual).toMatchObject({ code: 0, stdout: "Datacenter/shop/dc  Ready  Available\n" });
  const wide = await runWith(objects, "wait datacenter/dc -o wide");
  const line = `Datacenter/shop/dc  Ready  Available  ${ID}  shop/main  Datacenter is up to date\n`;
  expect(wide).toMatchObject({ code: 0, stdout: line });
});

it("mooring plan -o wide has policies, unchanged objects, each price and each name that is not of Mooring", () => {
  const item = (name: string, more: Partial<PlanItem>): PlanItem => ({
    kind: "IPBlock",
    namespace: "shop",
    name,
    action: "none",
    writes: false,
    fields: [],
    after: [],
    ...more,
  });
  const policy = { field: "deletionPolicy", from: "", to: "Retain", platform: false };
  const items = [item("new", { action: "create", writes: true, fields: [policy] }), item("old", { id: ID })];
  const months = new Map(items.map((each) => [each, { before: 5, after: 5 }]));
  const others = Array.from({ length: 12 }, (_, nth) => `ConfigMap c${nth}`);
  const cost = { before: 10, after: 10, currency: "EUR", basis: "730 hours", notPriced: [] };
  const plan = documentOf({ items, months, cost, others, validatedBy: "server", changes: true });
  const written = (format: string) => {
    const { written, given } = streams();
    writePlan(
      openScreen(given, format, () => 0),
      plan,
      false,
    );
    return written.stdout;
  };
  const only = ["deletionPolicy: Retain", "no change IPBlock shop/old", "5.00 EUR a month", "c11"];
  expect(only.filter((words) => written("table").includes(words))).toEqual([]);
  expect(only.filter((words) => written("wide").includes(words))).toEqual(only);
});
