import { afterEach, describe, expect, test } from "vitest";
import { type Collections, createCollections } from "../../../src/engine/observe/resource/collections.ts";
import { datacenter } from "../../../src/kinds/compute/datacenter.ts";
import { server } from "../../../src/kinds/compute/server/server.ts";
import type { Kind, ResourceKind } from "../../../src/kinds/kind.ts";
import { fakeClock } from "../../fake-clock.ts";
import { handleOf, scriptedConnection } from "../support/fixtures.ts";

function withResource(kind: Kind): ResourceKind {
  if (!kind.resource) throw new Error(`${kind.kind} has no resource`);
  return { ...kind, resource: kind.resource };
}
const servers = withResource(server);
const datacenters = withResource(datacenter);
const here = { datacenter: "d1" };
const MINUTE = 60_000;
const WAKE_MS = 1;

const opened: Collections[] = [];
afterEach(() => {
  for (const collections of opened.splice(0)) collections.close();
});

/** Collections of a platform that shows these ids in every list. */
async function open(...ids: string[]) {
  const there = new Map(ids.map((id) => [id, "AVAILABLE"]));
  const connection = scriptedConnection(() => ({
    items: [...there].map(([id, state]) => ({ id, metadata: { state }, properties: {} })),
  }));
  const account = handleOf("shop/main", { connection });
  const clock = fakeClock();
  const woken: string[] = [];
  const news: number[] = [];
  const log = { debug: () => {}, info: () => {}, warn: () => {} };
  const collections = createCollections({
    clock,
    log,
    restMs: 5 * MINUTE,
    busyMs: 1500,
    wake(key, since) {
      woken.push(key);
      news.push(clock.monotonic() - since);
      clock.spend(WAKE_MS);
    },
  });
  opened.push(collections);
  const heard = async (ms: number) => {
    woken.length = 0;
    await clock.advance(ms);
    return woken.toSorted();
  };
  const join = (key: string, id?: string, parents: Record<string, string> = here) =>
    collections.join(key, { account, kind: servers, parents }, id === undefined ? undefined : { id });
  const related = (key: string, ids: string[]) =>
    collections.related(key, { account, kind: servers, parents: here }, ids);
  const lists = () => connection.calls.map(({ url }) => new URL(url).pathname);
  return { collections, account, join, related, heard, lists, news, there, clock };
}

describe("a collection", () => {
  test("is opened once for all objects of it, and listed with their depth", async () => {
    const { join, lists, heard, account } = await open("s1", "s2");
    const first = join("Server/shop/a", "s1");
    expect(join("Server/shop/b", "s2")).toBe(first);
    expect(first.path).toBe("/datacenters/d1/servers");
    await heard(0);
    expect(lists()).toEqual(["/cloudapi/v6/datacenters/d1/servers"]);
    expect(account.key).toBe("shop/main");
  });

  test("is another one for other parents and other kinds", async () => {
    const { join, collections, account, lists, heard } = await open();
    join("Server/shop/a", "s1");
    join("Server/shop/b", "s2", { datacenter: "d2" });
    collections.join("Datacenter/shop/dc", { account, kind: datacenters, parents: {} }, { id: "d1" });
    await heard(0);
    expect(lists().toSorted()).toEqual([
      "/cloudapi/v6/datacenters",
      "/cloudapi/v6/datacenters/d1/servers",
      "/cloudapi/v6/datacenters/d2/servers",
    ]);
  });

  test("goes on over the new connection when its Account was deleted and made again", async () => {
    const { join, collections, heard, lists } = await open("s1", "s2");
    const first = join("Server/shop/a", "s1");
    join("Server/shop/b", "s2");
    await heard(0);
    expect(lists()).toHaveLength(1);
    const connection = scriptedConnection(() => ({
      items: [{ id: "s1", metadata: { state: "BUSY" }, properties: {} }],
    }));
    const again = collections.join(
      "Server/shop/a",
      { account: handleOf("shop/main", { connection }), kind: servers, parents: here },
      { id: "s1" },
    );
    expect(await heard(0)).toEqual(["Server/shop/a", "Server/shop/b"]);
    expect(again.collection.read("s1").item?.state).toBe("BUSY");
    expect(first.collection).toBe(again.collection);
    await heard(6 * MINUTE);
    expect(lists()).toHaveLength(1);
    expect(connection.calls.length).toBeGreaterThan(1);
    collections.leave("Server/shop/a");
    collections.leave("Server/shop/b");
    const before = connection.calls.length;
    await heard(6 * MINUTE);
    expect(connection.calls).toHaveLength(before);
  });

  test("wakes all objects after the first list, and then only those that a change concerns", async () => {
    const { join, heard, there } = await open("s1", "s2");
    join("Server/shop/a", "s1");
    join("Server/shop/b", "s2");
    expect(await heard(0)).toEqual(["Server/shop/a", "Server/shop/b"]);
    there.set("s2", "INACTIVE");
    expect(await heard(6 * MINUTE)).toEqual(["Server/shop/b"]);
  });

  test("tells everybody since when the news is known, also the last of many: who has looked since then knows it", async () => {
    const ids = Array.from({ length: 20 }, (_, n) => `s${n}`);
    const { join, heard, news } = await open(...ids);
    for (const id of ids) join(`Server/shop/${id}`, id);
    await heard(0);
    expect(news).toEqual(ids.map((_, n) => n * WAKE_MS));
  });

  test("wakes an object that has no id yet at any news", async () => {
    const { join, heard, there } = await open("s1");
    join("Server/shop/a", "s1");
    join("Server/shop/new");
    await heard(0);
    there.set("s9", "BUSY");
    expect(await heard(6 * MINUTE)).toContain("Server/shop/new");
  });

  test("knows an object by its id as soon as it has one", async () => {
    const { join, heard, there } = await open("s1");
    join("Server/shop/a");
    const shared = join("Server/shop/a", "s1");
    await heard(0);
    there.set("other", "AVAILABLE");
    expect(await heard(6 * MINUTE)).toEqual([]);
    there.set("s1", "INACTIVE");
    expect(await heard(6 * MINUTE)).toEqual(["Server/shop/a"]);
    expect(shared.collection.read("s1").item?.state).toBe("INACTIVE");
  });

  test("stays open while one object needs it, and costs nothing afterwards", async () => {
    const { join, collections, heard, lists } = await open("s1", "s2");
    join("Server/shop/a", "s1");
    join("Server/shop/b", "s2");
    await heard(0);
    collections.leave("Server/shop/a");
    await heard(6 * MINUTE);
    expect(lists()).toHaveLength(2);
    collections.leave("Server/shop/b");
    collections.leave("Server/shop/b");
    expect(await heard(60 * MINUTE)).toEqual([]);
    expect(lists()).toHaveLength(2);
  });

  test("tells all who care for the same resource, also when one of them has left", async () => {
    const { join, collections, heard, there } = await open("s1");
    for (const name of ["a", "b", "c"]) join(`Server/shop/${name}`, "s1");
    expect(await heard(0)).toEqual(["Server/shop/a", "Server/shop/b", "Server/shop/c"]);
    collections.leave("Server/shop/c");
    there.set("s1", "INACTIVE");
    expect(await heard(6 * MINUTE)).toEqual(["Server/shop/a", "Server/shop/b"]);
  });

  test("is left for another when the parents change", async () => {
    const { join, heard, lists } = await open("s1");
    join("Server/shop/a", "s1");
    await heard(0);
    join("Server/shop/a", "s1", { datacenter: "d2" });
    await heard(0);
    await heard(6 * MINUTE);
    expect(lists().filter((path) => path.includes("/d1/"))).toHaveLength(1);
    expect(lists().filter((path) => path.includes("/d2/"))).toHaveLength(2);
  });

  test("is opened anew for who comes after the last has left", async () => {
    const { join, collections, heard } = await open("s1");
    const before = join("Server/shop/a", "s1");
    await heard(0);
    collections.leave("Server/shop/a");
    expect(join("Server/shop/a", "s1")).not.toBe(before);
    expect(await heard(0)).toEqual(["Server/shop/a"]);
  });

  test("no longer follows a change of a member that has left", async () => {
    const { join, collections, heard, lists, clock } = await open("s1", "s2");
    const { collection } = join("Server/shop/a", "s1");
    join("Server/shop/b", "s2");
    await heard(0);
    collection.track("s1", { since: clock.now() });
    collections.leave("Server/shop/a");
    const before = lists().length;
    await heard(MINUTE);
    expect(lists()).toHaveLength(before);
  });

  test("is the same for those who show members of it, and tells them of those alone", async () => {
    const { join, related, heard, there, lists } = await open("s1", "s2", "s3");
    join("Server/shop/a", "s1");
    related("ScalingGroup/shop/g", ["s2", "s3"]);
    expect(await heard(0)).toEqual(["ScalingGroup/shop/g", "ScalingGroup/shop/g", "Server/shop/a"]);
    there.set("s1", "INACTIVE");
    expect(await heard(6 * MINUTE)).toEqual(["Server/shop/a"]);
    there.set("s3", "INACTIVE");
    expect(await heard(6 * MINUTE)).toEqual(["ScalingGroup/shop/g"]);
    related("ScalingGroup/shop/g", ["s2"]);
    there.set("s3", "AVAILABLE");
    expect(await heard(6 * MINUTE)).toEqual([]);
    expect(lists()).toHaveLength(4);
  });

  test("stays with its other members when those who show them leave, and is closed with the last", async () => {
    const { join, related, collections, heard, there, lists } = await open("s1", "s2");
    join("Server/shop/a", "s1");
    related("ScalingGroup/shop/g", ["s1", "s2"]);
    await heard(0);
    related("ScalingGroup/shop/g", []);
    there.set("s1", "INACTIVE");
    expect(await heard(6 * MINUTE)).toEqual(["Server/shop/a"]);
    related("ScalingGroup/shop/g", ["s2"]);
    collections.leave("Server/shop/a");
    there.set("s2", "INACTIVE");
    expect(await heard(6 * MINUTE)).toEqual(["ScalingGroup/shop/g"]);
    collections.leave("ScalingGroup/shop/g");
    const before = lists().length;
    await heard(60 * MINUTE);
    expect(lists()).toHaveLength(before);
  });

  test("is silent after close", async () => {
    const { join, collections, heard, lists } = await open("s1");
    join("Server/shop/a", "s1");
    collections.close();
    expect(await heard(60 * MINUTE)).toEqual([]);
    expect(lists()).toEqual([]);
  });

  test("cannot be opened without the Account's endpoint, and the error names the field", async () => {
    const { collections } = await open();
    const account = handleOf("shop/main", {
      endpoint: (name) => {
        throw new Error(`Account shop/main has no spec.endpoints.${name}`);
      },
    });
    expect(() => collections.join("Server/shop/a", { account, kind: servers, parents: here })).toThrow(
      "spec.endpoints.api",
    );
  });
});
