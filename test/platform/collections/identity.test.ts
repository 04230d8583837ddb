import { describe, expect, test } from "vitest";
import { server } from "../../../src/kinds/compute/server/server.ts";
import { lan } from "../../../src/kinds/network/lan.ts";
import type { CollectionSource, Item } from "../../../src/platform/collections/collection.ts";
import { confirmedBirth, identified, identityOf } from "../../../src/platform/collections/numbered.ts";

const MADE = "2026-01-01T10:00:00Z";
const item = (id: string, createdDate: unknown): Item => ({
  id,
  state: "AVAILABLE",
  raw: { metadata: { createdDate } },
});
const signal = AbortSignal.timeout(60_000);

/** A collection with one member, searched by the facts of a claim. */
function holding(only: Item | undefined, kind = lan) {
  const source: CollectionSource = {
    key: "k",
    list: async () => (only ? [only] : []),
    get: async (id) => (only?.id === id ? only : undefined),
    isBusy: () => false,
  };
  const collection = identified(kind.resource?.identity ?? {}, source);
  const shown = async () => (await collection.list(signal, "normal")).map(({ id }) => id);
  const found = async (claim: { id: string; born?: string }) => {
    const one = await collection.get?.(identityOf(claim), signal);
    return [one !== undefined, await collection.isStillThere?.(identityOf(claim), signal)];
  };
  return { shown, found };
}

describe("a resource with a number that the platform uses again", () => {
  const ours = { id: "3", born: MADE };

  test("is there as long as the platform says that it was made at the same time", async () => {
    const { shown, found } = holding(item("3", MADE));
    expect(await shown()).toEqual([identityOf(ours)]);
    expect(await found(ours)).toEqual([true, true]);
  });

  test.each(["2026-01-01T10:00:01Z", "2026-01-01T09:59:59Z", "2026-01-01T10:00:00.001Z", "2027-01-01T10:00:00Z"])(
    "is absent when what has its number was made at %s, however close that is",
    async (createdDate) => {
      const { shown, found } = holding(item("3", createdDate));
      expect(await shown()).not.toContain(identityOf(ours));
      expect(await found(ours)).toEqual([false, false]);
    },
  );

  test.each(["2026-01-01T10:00:00.000Z", "2026-01-01T10:00:00+00:00", "2026-01-01T11:00:00.000000+01:00"])(
    "is there, and known as before, when the platform spells the same time %s",
    async (createdDate) => {
      const { shown, found } = holding(item("3", createdDate));
      expect(await shown()).toEqual([identityOf(ours)]);
      expect(await found(ours)).toEqual([true, true]);
    },
  );

  test("is absent when nothing has its number", async () => {
    expect(await holding(undefined).found(ours)).toEqual([false, false]);
  });

  test("is whatever has the number for who does not know when it was made", async () => {
    expect(await holding(item("3", "2027-01-01T10:00:00Z")).found({ id: "3" })).toEqual([true, true]);
  });

  test("is neither gone nor certainly there while the platform does not say when it was made", async () => {
    for (const strange of ["yesterday", null, undefined]) {
      const { shown, found } = holding(item("3", strange));
      expect(await shown()).toEqual(["3"]);
      expect(await found(ours)).toEqual([true, false]);
    }
  });
});

test("where ids are never given away again, the id alone counts, and nothing is asked once more before a write", async () => {
  const { shown, found } = holding(item("s-1", MADE), server);
  expect(await shown()).toEqual(["s-1"]);
  expect(await found({ id: "s-1" })).toEqual([true, undefined]);
});

test("a creation date counts when three answers agree: two may come from the same wrong clock", async () => {
  const WRONG = "2026-01-01T10:01:00Z";
  const birthOf = (...dates: string[]) => {
    const left = [...dates];
    const get = async () => item("3", left.shift());
    const source = identified(lan.resource?.identity ?? {}, {
      key: "k",
      list: async () => [],
      get,
      isBusy: () => false,
    });
    const [first = MADE] = left.splice(0, 1);
    return confirmedBirth({ source, path: "/lans" }, item("3", first), signal);
  };
  expect(await birthOf(MADE, MADE, MADE)).toBe(MADE);
  await expect(birthOf(WRONG, MADE)).rejects.toThrow("creation date");
  await expect(birthOf(WRONG, WRONG, MADE)).rejects.toThrow("creation date");
});
