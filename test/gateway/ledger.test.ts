import { describe, expect, it } from "vitest";
import { createConfigMapLedger, MOST_RECORDS, TooManyRecords } from "../../src/gateway/access/ledger.ts";
import { KubeError } from "../../src/kube/client/errors.ts";
import type { KubeCall } from "../../src/kube/client/transport.ts";
import type { KubeObject } from "../../src/kube/resource.ts";

/** ConfigMaps with optimistic locking, like those of an API server. */
function configMaps() {
  const kept = new Map<string, KubeObject>();
  let version = 0;
  const calls: string[] = [];
  return {
    calls,
    entries: () => Object.assign({}, ...[...kept.values()].map(({ data }) => data)),
    async request<T>({ method, path, body }: KubeCall): Promise<T> {
      calls.push(method);
      await new Promise(setImmediate);
      if (method === "GET") {
        const found = kept.get(path.split("/").at(-1) ?? "");
        if (found === undefined) throw new KubeError({ status: 404, reason: "NotFound", message: "none" });
        return JSON.parse(JSON.stringify(found));
      }
      const object: KubeObject = Object(body);
      const { name, resourceVersion } = object.metadata;
      if (kept.get(name)?.metadata.resourceVersion !== resourceVersion) {
        throw new KubeError({ status: 409, reason: "Conflict", message: "somebody wrote" });
      }
      version += 1;
      kept.set(name, { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } });
      return JSON.parse(JSON.stringify(object));
    },
  };
}

const [DAY, NEXT] = ["2026-01-01", "2026-01-02"];
const some = (eur: number) => ({ least: eur, most: eur });

describe("the ledger in ConfigMaps", () => {
  it("gives the same money to one of many replicas only", async () => {
    const maps = configMaps();
    const replicas = Array.from({ length: 5 }, () => createConfigMapLedger(maps, "mooring-system"));
    const taken = await Promise.all(replicas.map((ledger) => ledger.take("shop/chat", DAY, some(3), 10)));
    expect(taken.map(({ eur }) => eur).sort()).toEqual([0, 0, 3, 3, 3]);
    expect(maps.entries()).toEqual({ "shop.chat": `${DAY} 9` });
  });

  it("keeps so many records of one namespace that others always find room, also of accesses that are gone", async () => {
    const maps = configMaps();
    const ledger = createConfigMapLedger(maps, "mooring-system");
    const outcomes: string[] = [];
    for (let nth = 0; nth < 16 * MOST_RECORDS * 2; nth += 1) {
      const taken = ledger.take(`greedy/${"n".repeat(240)}-${nth}`, DAY, some(1), 10);
      outcomes.push(
        await taken.then(
          () => "taken",
          (error) => error.constructor.name,
        ),
      );
    }
    expect(new Set(outcomes)).toEqual(new Set(["taken", TooManyRecords.name]));
    expect(Object.keys(maps.entries())).toHaveLength(16 * MOST_RECORDS);
    expect(await ledger.take("greedy/_shared", DAY, some(1), 10)).toMatchObject({ eur: 1 });
    for (let nth = 0; nth < 50; nth += 1) {
      expect(await ledger.take(`shop/chat-${nth}`, DAY, some(1), 10)).toMatchObject({ eur: 1 });
    }
  });

  it("has a record for every name, however long", async () => {
    const maps = configMaps();
    const ledger = createConfigMapLedger(maps, "mooring-system");
    const [one, other] = ["a", "b"].map((end) => `${"s".repeat(63)}/${"n".repeat(252)}${end}`);
    expect(await ledger.take(one ?? "", DAY, some(7), 10)).toEqual({ eur: 7, left: 10 });
    expect(await ledger.take(other ?? "", DAY, some(7), 10)).toEqual({ eur: 7, left: 10 });
    expect(await ledger.take(one ?? "", DAY, some(7), 10)).toEqual({ eur: 0, left: 3 });
    for (const entry of Object.keys(maps.entries())) expect(entry).toMatch(/^[-._a-zA-Z0-9]{1,253}$/);
  });

  it("writes nothing for who asks for more than is left, and tells what is left", async () => {
    const maps = configMaps();
    const ledger = createConfigMapLedger(maps, "mooring-system");
    await ledger.take("shop/chat", DAY, some(7), 10);
    maps.calls.length = 0;
    expect(await ledger.take("shop/chat", DAY, some(4), 10)).toEqual({ eur: 0, left: 3 });
    expect(maps.calls).toEqual(["GET"]);
    expect(await ledger.take("shop/chat", DAY, { least: 1, most: 4 }, 10)).toEqual({ eur: 3, left: 3 });
  });

  it("takes back what was not used, and takes down what was used beyond that", async () => {
    const maps = configMaps();
    const ledger = createConfigMapLedger(maps, "mooring-system");
    await ledger.take("shop/chat", DAY, some(7), 10);
    await ledger.giveBack("shop/chat", DAY, 2);
    expect(maps.entries()).toEqual({ "shop.chat": `${DAY} 5` });
    await ledger.giveBack("shop/chat", DAY, -6);
    expect(maps.entries()).toEqual({ "shop.chat": `${DAY} 11` });
  });

  it("loses nothing of a day to a replica for which it has not begun", async () => {
    const maps = configMaps();
    const ledger = createConfigMapLedger(maps, "mooring-system");
    const behind = createConfigMapLedger(maps, "mooring-system");
    await ledger.take("shop/chat", DAY, some(7), 10);
    await ledger.take("shop/chat", NEXT, some(2), 10);
    await expect(behind.take("shop/chat", DAY, some(1), 10)).rejects.toThrow("begun the next day");
    // The rest of a past day is not needed.
    await behind.giveBack("shop/chat", DAY, 1);
    // All names in the same ConfigMap.
    for (let nth = 0; nth < 100; nth += 1) await behind.take(`shop/other-${nth}`, DAY, some(1), 10);
    expect(maps.entries()).toMatchObject({ "shop.chat": `${NEXT} 2` });
  });
});
