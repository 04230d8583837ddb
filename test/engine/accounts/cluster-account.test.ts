import { describe, expect, test } from "vitest";
import { laneOf } from "../../../src/controllers/wake-ups.ts";
import { createAccounts, type User } from "../../../src/engine/accounts/accounts.ts";
import { FINALIZER } from "../../../src/engine/state/names.ts";
import { createObjects } from "../../../src/engine/state/objects.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { ipBlock } from "../../../src/kinds/network/ipblock.ts";
import { centralLogging } from "../../../src/kinds/observability/central-logging.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { clusterAccountOf, handleOf, objectOf } from "../support/fixtures.ts";
import { type Life, live, readyOf } from "../support/lives.ts";
import { stage } from "../support/stage.ts";
import { unsealed } from "../support/unsigned.ts";

const SHARED = "ClusterAccount/shared";
const byName = { kind: "ClusterAccount", name: "shared" } as const;
const inTeam: User = { kind: ipBlock, namespace: "team" };

/** ClusterAccounts that are Ready, and the labels of namespace `team`. */
function accounts(shared: KubeObject[], labels: Record<string, string> = {}) {
  const objects = createObjects(kinds, unsealed, () => {});
  const all = createAccounts(objects, { labelsOf: (name) => (name === "team" ? labels : undefined) });
  for (const object of shared) {
    objects.store("ClusterAccount").put(object);
    all.put(handleOf(`ClusterAccount/${object.metadata.name}`));
  }
  return { ...all, objects };
}
const sharedWith = (spec: object) => accounts([clusterAccountOf("shared", spec)], { tier: "gold", env: "prod" });
const chosen = (choice: ReturnType<ReturnType<typeof accounts>["choose"]>) =>
  "account" in choice ? choice.account.key : choice.obstacle.reason;
const everywhere = { namespaces: { selector: {} } };

describe("a ClusterAccount is open to", () => {
  const expressions = (...matchExpressions: object[]) => ({ selector: { matchExpressions } });
  test.each([
    ["nobody when it says nothing", undefined, false],
    ["nobody when it names none", {}, false],
    ["the namespaces that it names", { names: ["other", "team"] }, true],
    ["no other one", { names: ["other"] }, false],
    ["all with an empty selector", { selector: {} }, true],
    ["those with a label", { selector: { matchLabels: { tier: "gold" } } }, true],
    ["none with another value", { selector: { matchLabels: { tier: "silver" } } }, false],
    ["those that it names besides", { names: ["team"], selector: { matchLabels: { tier: "silver" } } }, true],
    ["In", expressions({ key: "tier", operator: "In", values: ["silver", "gold"] }), true],
    ["In, another value", expressions({ key: "tier", operator: "In", values: ["silver"] }), false],
    ["NotIn", expressions({ key: "tier", operator: "NotIn", values: ["silver"] }), true],
    ["NotIn, the value", expressions({ key: "tier", operator: "NotIn", values: ["gold"] }), false],
    ["NotIn, no such label", expressions({ key: "none", operator: "NotIn", values: ["gold"] }), true],
    ["Exists", expressions({ key: "tier", operator: "Exists" }), true],
    ["Exists, no such label", expressions({ key: "toString", operator: "Exists" }), false],
    ["DoesNotExist", expressions({ key: "tier", operator: "DoesNotExist" }), false],
    [
      "both conditions, of which one fails",
      expressions({ key: "tier", operator: "Exists" }, { key: "env", operator: "In", values: ["test"] }),
      false,
    ],
    ["nobody when it cannot be read", { names: "team" }, false],
  ])("%s", (_, namespaces, open) => {
    expect(sharedWith({ namespaces }).isOpenTo(inTeam, SHARED)).toBe(open);
  });

  test("no namespace by its labels that is not known", () => {
    expect(sharedWith(everywhere).isOpenTo({ ...inTeam, namespace: "unknown" }, SHARED)).toBe(false);
  });

  test("all kinds but switches of the whole contract, which have to be named", () => {
    const switches: User = { kind: centralLogging, namespace: "team" };
    const open = (spec: object) => [inTeam, switches].map((user) => sharedWith(spec).isOpenTo(user, SHARED));
    expect(open(everywhere)).toEqual([true, false]);
    expect(open({ ...everywhere, kinds: ["CentralLogging"] })).toEqual([false, true]);
    expect(open({ ...everywhere, kinds: [] })).toEqual([false, false]);
  });
});

describe("an object that names a ClusterAccount", () => {
  test("uses it, also where the namespace has an Account of its own", () => {
    const all = sharedWith(everywhere);
    all.objects.store("Account").put(objectOf("Account", "mine", { metadata: { name: "mine", namespace: "team" } }));
    expect(chosen(all.choose(inTeam, byName))).toBe(SHARED);
    expect(chosen(all.choose(inTeam, { kind: "Account", name: "shared" }))).toBe("AccountNotFound");
  });

  test("gives the same message when it does not exist, does not admit the namespace, or does not admit the kind", () => {
    const choices = [
      accounts([]),
      sharedWith({ namespaces: { names: ["other"] } }),
      sharedWith({ ...everywhere, kinds: ["Server"] }),
      sharedWith({}),
    ].map((all) => all.choose(inTeam, byName));
    const message =
      "ClusterAccount shared does not exist, or does not admit IPBlock objects of namespace team: ask the administrator to admit them";
    const same = { key: SHARED, obstacle: { reason: "AccountNotAllowed", message } };
    expect(choices).toEqual([same, same, same, same]);
  });

  test("does not hear about its Secret while it does not work", () => {
    const all = sharedWith(everywhere);
    const secret = "Secret billing-token has no key token";
    all.put(handleOf(SHARED, { obstacle: { reason: "CredentialsMissing", message: secret } }));
    const choice = all.choose(inTeam, byName);
    const message = "ClusterAccount shared: CredentialsMissing; ask the administrator";
    expect(choice).toEqual({ key: SHARED, obstacle: { reason: "AccountNotReady", message } });
  });
});

describe("the default ClusterAccount", () => {
  const defaults = { default: true, ...everywhere };
  const made = (name: string, day: number, spec: object = defaults) =>
    clusterAccountOf(name, spec, { creationTimestamp: `2026-01-0${day}T00:00:00Z` });

  test("is the newest of those that admit the object", () => {
    const all = accounts([made("old", 1), made("new", 2), made("closed", 3, { default: true })]);
    expect(chosen(all.choose(inTeam, undefined))).toBe("ClusterAccount/new");
  });

  test("is none that is not marked as such", () => {
    expect(chosen(accounts([made("usual", 1, everywhere)]).choose(inTeam, undefined))).toBe("AccountNotFound");
  });

  test("is told of to nobody whom it does not admit", () => {
    const without = accounts([]).choose(inTeam, undefined);
    expect(accounts([made("closed", 1, { default: true })]).choose(inTeam, undefined)).toEqual(without);
  });

  test("that was settled on stays when a newer one comes", () => {
    const all = accounts([made("old", 1), made("new", 2)]);
    expect(chosen(all.choose(inTeam, undefined, "ClusterAccount/old"))).toBe("ClusterAccount/old");
  });

  test("is used where status names an Account of another namespace, which is never used", () => {
    const all = accounts([made("shared", 1)]);
    expect(all.keep(inTeam, "ops/main")).toBeUndefined();
    expect(chosen(all.choose(inTeam, undefined, "ops/main"))).toBe(SHARED);
  });
});

describe("an object whose admission is taken away", () => {
  const KEY = "IPBlock/team/a";
  const gold = { namespaces: { selector: { matchLabels: { tier: "gold" } } } };
  let version = 900_000_000;
  const admission = (spec: object) =>
    clusterAccountOf("shared", spec, { resourceVersion: String(++version), uid: "uid-shared" });

  /** An IP block that was created through the ClusterAccount, which now admits only gold namespaces. */
  async function open() {
    const object = objectOf("IPBlock", "a", {
      spec: { location: "de/txl", size: 1, accountRef: byName },
      metadata: { name: "a", namespace: "team" },
    });
    const all = stage([object]);
    const life: Life = { all, key: KEY, object, beforeEach: all.platform.beforeEach };
    all.labels.set("team", { tier: "gold" });
    const put = (spec: object) => {
      const shared = admission(spec);
      shared.metadata.resourceVersion = String(version);
      all.objects.store("ClusterAccount").put(shared);
    };
    put(gold);
    await live(life, 30);
    expect(readyOf(life)).toMatchObject({ status: "True" });
    const stored = () => all.api.get(object) ?? object;
    all.platform.calls.length = 0;
    const before = readStatus(stored());
    return { life, all, object, stored, before, put };
  }

  test.each([
    ["by a label", (all: Awaited<ReturnType<typeof open>>) => all.all.labels.set("team", {})],
    ["by an edit of names", (all: Awaited<ReturnType<typeof open>>) => all.put({ namespaces: { names: ["other"] } })],
    ["by an edit of kinds", (all: Awaited<ReturnType<typeof open>>) => all.put({ ...gold, kinds: ["Server"] })],
  ])("%s is neither written to nor looked at any more, and forgets nothing", async (_, take) => {
    const opened = await open();
    const { life, all, before, stored } = opened;
    take(opened);
    all.platform.items.clear();
    await live(life, 1);
    all.platform.calls.length = 0;
    await live(life, 600);
    expect(all.platform.calls).toEqual([]);
    expect(readyOf(life)).toMatchObject({ status: "False", reason: "AccountNotAllowed" });
    const { id, account, contract, endpoint } = before;
    expect(readStatus(stored())).toMatchObject({ id, account, contract, endpoint });
    expect(account).toBe(SHARED);
  });

  test("is Ready again with the same resource when it is admitted again, without a write to it", async () => {
    const { life, all, before, stored } = await open();
    all.labels.set("team", {});
    await live(life, 60);
    all.labels.set("team", { tier: "gold" });
    await live(life, 30);
    expect(readyOf(life)).toMatchObject({ status: "True" });
    expect(readStatus(stored()).id).toBe(before.id);
    expect(all.platform.calls.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  test("is kept when it is deleted, says what to do, and goes when it is told to leave the resource", async () => {
    const { life, all, object, stored } = await open();
    all.labels.set("team", {});
    const { metadata } = stored();
    all.api.put({ ...stored(), metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
    await live(life, 600);
    expect(stored().metadata.finalizers).toEqual([FINALIZER]);
    expect(readyOf(life)).toMatchObject({ reason: "AccountNotAllowed" });
    expect(readyOf(life)?.message).toContain("set deletionPolicy: Retain");
    expect(all.platform.items.size).toBe(1);
    const spec = { ...Object(stored().spec), deletionPolicy: "Retain" };
    all.api.put({ ...stored(), spec, metadata: { ...stored().metadata, generation: 2 } });
    await live(life, 5);
    expect(all.api.get(object)).toBeUndefined();
    expect(all.platform.items.size).toBe(1);
  });
});

test("an Account that has lost an address does not keep others from the switch of the same contract", () => {
  const logging = (name: string, account: string) =>
    objectOf("CentralLogging", name, { spec: { enabled: true, accountRef: { name: account } } });
  const theirs = { ...logging("theirs", "lost"), status: { id: "central", account: "shop/lost" } };
  const { accounts, contextOf } = stage([theirs, logging("mine", "main")]);
  const connection = fakePlatform().connectionOf("shop/lost");
  const endpoint = () => {
    throw new Error("there is no address");
  };
  accounts.put(handleOf("shop/lost", { connection, endpoint }));
  expect(contextOf("CentralLogging/shop/mine").view.spec.obstacle).toBeUndefined();
});

describe("a status that somebody else has written", () => {
  test.each(["shop/main", "ClusterAccount/closed", "ClusterAccount/shared|shop"])(
    "puts no object into the lane of others: %s",
    (account) => {
      const forged = objectOf("IPBlock", "a", {
        spec: { location: "de/txl", size: 1, accountRef: { name: "own" } },
        metadata: { name: "a", namespace: "team" },
        status: { id: "theirs", account },
      });
      const { deps, objects } = stage([forged]);
      objects.store("ClusterAccount").put(clusterAccountOf("closed"));
      expect(laneOf(deps, "IPBlock/team/a")).toEqual({ account: "team/own", namespace: "team", shared: false });
    },
  );

  test("nor does a ClusterAccount that spec names and that does not admit it", () => {
    const spec = { location: "de/txl", size: 1, accountRef: { kind: "ClusterAccount", name: "closed" } };
    const { deps, objects } = stage([objectOf("IPBlock", "a", { spec, metadata: { name: "a", namespace: "team" } })]);
    objects.store("ClusterAccount").put(clusterAccountOf("closed"));
    expect(laneOf(deps, "IPBlock/team/a")).toEqual({ account: "team", namespace: "team", shared: false });
  });

  test("does not open an Account of another namespace", () => {
    const forged = objectOf("IPBlock", "a", {
      spec: { location: "de/txl", size: 1 },
      metadata: { name: "a", namespace: "team" },
      status: { id: "theirs", account: "shop/main" },
    });
    const { contextOf } = stage([forged]);
    expect(contextOf("IPBlock/team/a").view.account.key).not.toBe("shop/main");
  });
});
