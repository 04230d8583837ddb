import { describe, expect, onTestFinished, test } from "vitest";
import { readyOf } from "../../src/engine/status/status.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { type LimitOf, limitOf } from "../../src/kube/watch/age-limits.ts";
import { objectOf } from "../engine/support/fixtures.ts";
import { accountOf, credentials, runEngine } from "../engine/support/running-engine.ts";
import { fakeClock } from "../fake-clock.ts";

const born = (second: number) => new Date(Date.UTC(2026, 0, 1) + 1000 * second).toISOString();
const named = (kind: string, nth: number, more: Partial<KubeObject> = {}) => {
  const name = `n${String(nth).padStart(3, "0")}`;
  const metadata = { name, uid: `uid-${kind}-${name}`, creationTimestamp: born(nth) };
  return objectOf(kind, name, { ...more, metadata: { ...metadata, ...more.metadata } });
};

/** An engine with limits, whose watches show its own writes. */
async function running(initial: KubeObject[], limits: Record<string, number>, more: { limit?: LimitOf } = {}) {
  const clock = fakeClock();
  const engine = await runEngine([credentials, ...initial], {
    clock,
    shows: true,
    limit: limitOf(limits),
    ...more,
  });
  onTestFinished(() => engine[Symbol.asyncDispose]());
  const reasonOf = (object: KubeObject) => {
    const found = engine.api.get(object);
    return found && readyOf(found)?.reason;
  };
  return { ...engine, clock, reasonOf };
}

const account = (nth: number): KubeObject => ({
  ...named("Account", nth),
  spec: accountOf("any").spec,
});
const accounts = (count: number) => Array.from({ length: count }, (_, nth) => account(nth));

describe("more Accounts than a namespace may have", () => {
  test("are Stalled, make no call and get nothing; the oldest work, and one that is next heals when one goes", async () => {
    const all = accounts(12);
    const { reasonOf, clock, api, platform, remove } = await running(all, { Account: 4 });
    await clock.advance(10_000);
    expect(all.map(reasonOf)).toEqual([...Array(4).fill("Available"), ...Array(8).fill("TooManyObjects")]);
    const marked = all.filter((each) => (api.get(each)?.metadata.finalizers ?? []).length > 0);
    expect(marked).toHaveLength(4);
    const calls = platform.calls.length;
    const [first] = all;
    if (first) remove(first);
    await clock.advance(10_000);
    expect(all.slice(1).map(reasonOf)).toEqual([...Array(4).fill("Available"), ...Array(7).fill("TooManyObjects")]);
    // The new Account makes the one call that every Account makes.
    expect(platform.calls.length - calls).toBe(1);
  });

  test("tell their users why, and take one turn among all", async () => {
    const user = named("IPBlock", 50, {
      spec: { location: "de/txl", size: 1, accountRef: { name: "n009" } },
    });
    const { engine, clock, reasonOf, api } = await running([...accounts(12), user], { Account: 4 });
    await clock.advance(10_000);
    expect(reasonOf(user)).toBe("AccountNotReady");
    const found = api.get(user);
    expect(found && readyOf(found)?.message).toMatch(/^Account shop\/n009: a namespace may have 4 Account objects/);
    const lanes = Array.from({ length: 12 }, (_, nth) => engine.laneOf(`Account/shop/${account(nth).metadata.name}`));
    expect(new Set(lanes.map((lane) => lane.account)).size).toBe(5);
  });

  test("that have users go on: nobody else could delete what was made", async () => {
    const limits: Record<string, number> = { Account: 4 };
    const used = named("IPBlock", 1, { spec: { location: "de/txl", size: 1, accountRef: { name: "n002" } } });
    const { clock, reasonOf, put } = await running([...accounts(3), used], limits, {
      limit: (kind) => limits[kind] ?? 100,
    });
    await clock.advance(60_000);
    expect(reasonOf(used)).toBe("Available");
    limits.Account = 2;
    put({ ...account(2), metadata: { ...account(2).metadata, generation: 2 } });
    await clock.advance(10_000);
    expect(reasonOf(account(2))).toBe("Available");
  });
});

describe("more Grants than a namespace may have", () => {
  test("open nothing until there is room", async () => {
    const grants = Array.from({ length: 3 }, (_, nth) =>
      named("Grant", nth, {
        spec: { namespaces: { names: ["guest"] }, kinds: ["Datacenter"], names: [`dc-${nth}`] },
      }),
    );
    const { clock, reasonOf, remove } = await running(
      [
        ...grants,
        { ...credentials, metadata: { ...credentials.metadata, namespace: "guest", uid: "uid-guest-cred" } },
        accountOf("main", {}, { namespace: "guest", uid: "uid-guest-main" }),
        objectOf("Datacenter", "dc-2", { spec: { location: "de/txl" } }),
        objectOf("Lan", "mine", {
          metadata: { name: "mine", namespace: "guest", creationTimestamp: born(0) },
          spec: { datacenterRef: { name: "dc-2", namespace: "shop" }, public: false },
        }),
      ],
      { Grant: 2 },
    );
    const guest = objectOf("Lan", "mine", { metadata: { name: "mine", namespace: "guest" } });
    await clock.advance(20_000);
    expect(grants.map(reasonOf)).toEqual(["Available", "Available", "TooManyObjects"]);
    expect(reasonOf(guest)).toBe("ReferenceNotGranted");
    const [first] = grants;
    if (first) remove(first);
    await clock.advance(20_000);
    expect(grants.slice(1).map(reasonOf)).toEqual(["Available", "Available"]);
    expect(reasonOf(guest)).not.toBe("ReferenceNotGranted");
  });
});
