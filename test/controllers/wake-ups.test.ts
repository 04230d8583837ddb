import { expect, test, vi } from "vitest";
import { referrersToWake, usersOf, waitingForRemoval } from "../../src/controllers/wake-ups.ts";
import { createAccounts } from "../../src/engine/accounts/accounts.ts";
import { createObjects, type Objects } from "../../src/engine/state/objects.ts";
import { kinds } from "../../src/kinds/index.ts";
import { clusterAccountOf, handleOf, objectOf, readyCondition } from "../engine/support/fixtures.ts";
import { unsealed } from "../engine/support/unsigned.ts";

const SHARED = "ClusterAccount/shared";
const COUNT = 100;
const status = { account: "shop/main", endpoint: "https://api.example.org" };

/**
 * Datacenters that use the Account of their namespace, one without an Account, and a ClusterAccount for all namespaces.
 */
function populated() {
  const objects = createObjects(kinds, unsealed, () => {});
  const accounts = createAccounts(objects, { labelsOf: () => ({}) });
  objects.store("ClusterAccount").put(clusterAccountOf("shared", { namespaces: { selector: {} } }));
  accounts.put(handleOf(SHARED));
  for (let n = 0; n < COUNT; n++) {
    objects.store("Account").put(objectOf("Account", `account-${n}`));
    objects.store("Datacenter").put(objectOf("Datacenter", `dc-${n}`, { status: { ...status, id: `id-${n}` } }));
  }
  objects.store("Datacenter").put(objectOf("Datacenter", "new"));
  return { objects, accounts };
}

/** The yielded keys, and the largest number of objects read for one of them. */
function walk<T>(objects: Objects, items: Iterable<T | undefined>) {
  const find = vi.spyOn(objects, "find");
  const found: T[] = [];
  let most = 0;
  for (const item of items) {
    most = Math.max(most, find.mock.calls.length);
    find.mockClear();
    if (item !== undefined) found.push(item);
  }
  return { found, most: Math.max(most, find.mock.calls.length) };
}

test("a long list of users of a ClusterAccount is walked in time slices", () => {
  const { objects, accounts } = populated();
  const { found, most } = walk(objects, usersOf({ objects, accounts }, SHARED));
  expect(found).toEqual(["Datacenter/shop/new"]);
  // The Account itself and the ClusterAccount.
  expect(most).toBeLessThanOrEqual(2);
});

test("for an object that goes, only its own Account is read, and woken if it waits for that", () => {
  const { objects } = populated();
  const goneWith = (name: string) =>
    objectOf("Datacenter", "gone", { status: { ...status, id: "id", account: `shop/${name}` } });
  const woken = (name: string) => {
    const { found, most } = walk(objects, waitingForRemoval(objects, "Datacenter/shop/gone", goneWith(name)));
    expect(most).toBeLessThanOrEqual(1);
    return found;
  };
  objects
    .store("Account")
    .put(objectOf("Account", "leaving", { metadata: { name: "leaving", deletionTimestamp: "2026-01-01T00:00:00Z" } }));
  expect(woken("leaving")).toEqual(["Account/shop/leaving"]);
  expect(woken("account-1")).toEqual([]);
});

test("an object that takes over what it observed hears that what it refers to was taken over", () => {
  const { objects } = populated();
  const internal = { onlyObserved: true };
  const conditions = [readyCondition("True")];
  const lan = { ...status, id: "1", parents: { datacenter: "id-1" }, conditions };
  const spec = { datacenterRef: { name: "dc-1" }, managementPolicy: "Manage" };
  const observed = objectOf("Lan", "private", { spec, status: { ...lan, internal: { ...internal, born: "then" } } });
  const owned = objectOf("Lan", "private", { spec, status: { ...lan, internal: { born: "then" } } });
  const server = { ...spec, nics: [{ name: "eth0", lanRef: { name: "private" } }] };
  const waiting = { ...status, id: "s", parents: { datacenter: "id-1" }, internal };
  objects.store("Lan").put(owned);
  objects.store("Server").put(objectOf("Server", "web", { spec: server, status: waiting }));
  const woken = [...referrersToWake(objects, "Lan/shop/private", observed, owned)];
  expect(woken).toEqual(["Server/shop/web"]);
});
