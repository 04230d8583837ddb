import { describe, expect, test } from "vitest";
import { createAccounts } from "../../../src/engine/accounts/accounts.ts";
import { createObjects } from "../../../src/engine/state/objects.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { ipBlock } from "../../../src/kinds/network/ipblock.ts";
import { clusterAccountOf, handleOf, objectOf } from "../support/fixtures.ts";
import { unsealed } from "../support/unsigned.ts";

/** Accounts by namespace/name, and a default ClusterAccount if one is given. */
function accounts(existing: string[], working: string[] = existing, defaultAccount?: string) {
  const objects = createObjects(kinds, unsealed, () => {});
  const all = createAccounts(objects, { labelsOf: () => ({}) });
  for (const key of existing) {
    const [namespace = "", name = ""] = key.split("/");
    objects.store("Account").put(objectOf("Account", name, { metadata: { name, namespace } }));
  }
  if (defaultAccount !== undefined) {
    const open = { default: true, namespaces: { selector: {} } };
    objects.store("ClusterAccount").put(clusterAccountOf(defaultAccount, open));
    all.put(handleOf(`ClusterAccount/${defaultAccount}`));
  }
  for (const key of working) all.put(handleOf(key));
  return all;
}

const shop = { kind: ipBlock, namespace: "shop" };
const named = (name: string) => ({ kind: "Account", name }) as const;
type Choice = ReturnType<ReturnType<typeof accounts>["keep"]>;
const chosen = (choice: Choice) => (choice && "account" in choice ? choice.account.key : choice?.obstacle.reason);
const said = (choice: Choice) => (choice && "obstacle" in choice ? choice.obstacle.message : "");

describe("the Account of an object", () => {
  test("is the one that spec names, in the object's own namespace", () => {
    const all = accounts(["shop/a", "shop/b", "other/c"]);
    expect(chosen(all.choose(shop, named("b")))).toBe("shop/b");
    expect(chosen(all.choose(shop, named("c")))).toBe("AccountNotFound");
  });

  test("is the only one of the namespace", () => {
    expect(chosen(accounts(["shop/a", "other/b"], undefined, "b").choose(shop, undefined))).toBe("shop/a");
  });

  test("is the default ClusterAccount where the namespace has none", () => {
    expect(chosen(accounts(["other/b"], undefined, "b").choose(shop, undefined))).toBe("ClusterAccount/b");
  });

  test("is not guessed among several: the message names them and the field", () => {
    const choice = accounts(["shop/b", "shop/a"], undefined, "a").choose(shop, undefined);
    expect(chosen(choice)).toBe("AccountNotFound");
    expect(said(choice)).toBe("namespace shop has several Accounts (a, b): set spec.accountRef.name");
  });

  test("is missing where there is none and no default", () => {
    expect(said(accounts([]).choose(shop, undefined))).toBe(
      "namespace shop has no Account: create one, or ask the administrator to admit it to a ClusterAccount",
    );
  });

  test("is waited for until it was checked, and nobody has to act for that", () => {
    const choice = accounts(["shop/a"], []).choose(shop, undefined);
    expect(choice).toEqual({
      key: "shop/a",
      obstacle: { reason: "Observing", message: "Account shop/a not checked yet" },
    });
  });

  test("that is being checked for the first time is no news about its objects", () => {
    const all = accounts(["shop/a"], []);
    all.put(handleOf("shop/a", { obstacle: { reason: "Observing", message: "not checked yet" } }));
    expect(all.keep(shop, "shop/a")).toMatchObject({ obstacle: { reason: "Observing" } });
  });

  test("is one of their namespace, or a ClusterAccount that admits them", () => {
    const all = accounts(["shop/a", "shopping/b"], undefined, "c");
    const keys = ["shop/a", "shopping/b", "ClusterAccount/c", "ClusterAccount/d"];
    expect(keys.filter((key) => all.isOpenTo(shop, key))).toEqual(["shop/a", "ClusterAccount/c"]);
  });

  test("is waited for while it does not work, with its own words", () => {
    const all = accounts(["shop/a"], []);
    all.put(handleOf("shop/a", { obstacle: { reason: "Unauthorized", message: "bad token" } }));
    expect(all.keep(shop, "shop/a")).toEqual({
      key: "shop/a",
      obstacle: { reason: "AccountNotReady", message: "Account shop/a: bad token" },
    });
  });

  test("is gone when it was removed", () => {
    const all = accounts([], ["shop/a"]);
    expect(chosen(all.keep(shop, "shop/a"))).toBe("shop/a");
    all.remove("shop/a");
    expect(all.get("shop/a")).toBeUndefined();
    expect(all.keep(shop, "shop/a")).toBeUndefined();
    expect(chosen(all.choose(shop, named("a")))).toBe("AccountNotFound");
  });
});
