import { expect, test } from "vitest";
import { createLru, recalled } from "../../src/runtime/lru.ts";

test("a full map drops what was neither read nor set for the longest time", () => {
  const map = createLru<number>(2);
  map.set("a", 1);
  map.set("b", 2);
  expect(map.get("a")).toBe(1);
  map.set("c", 3);
  expect(["a", "b", "c"].map(map.get)).toEqual([1, undefined, 3]);
  map.set("a", 4);
  map.set("d", 5);
  expect(["a", "c", "d"].map(map.get)).toEqual([4, undefined, 5]);
});

test("a text is read once while it is among the latest, whatever was read", () => {
  const texts: (string | undefined)[] = [];
  const read = recalled((text: string | undefined) => {
    texts.push(text);
    return text === "a" ? { text } : undefined;
  });
  expect(read("a")).toBe(read("a"));
  expect([read("b"), read("b"), read(undefined), read(undefined)]).toEqual(Array(4).fill(undefined));
  expect(texts).toEqual(["a", "b", undefined]);
  for (let other = 0; other < 1000; other++) read(`other ${other}`);
  expect(read("a")).toEqual({ text: "a" });
  expect(texts.filter((text) => text === "a")).toHaveLength(2);
});

test("an error is not kept: the next call reads again", () => {
  const read = recalled(() => {
    throw new Error("unreadable");
  });
  for (const _ of [1, 2]) expect(() => read("a")).toThrow("unreadable");
});
