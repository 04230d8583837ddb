import { isDeepStrictEqual } from "node:util";
import { expect, test, vi } from "vitest";
import { createSlot, memo } from "../../src/runtime/memo.ts";

test("an object is read once, also when there is nothing in it", () => {
  const read = vi.fn((object: { value?: number }) => object.value);
  const contentOf = memo(read);
  const [full, empty] = [{ value: 1 }, {}];
  expect([contentOf(full), contentOf(full), contentOf(empty), contentOf(empty)]).toEqual([1, 1, undefined, undefined]);
  expect(read).toHaveBeenCalledTimes(2);
});

test("a value whose computation throws is computed again", () => {
  let isBroken = true;
  const contentOf = memo((object: { value: number }) => {
    if (isBroken) throw new Error("broken");
    return object.value;
  });
  const object = { value: 1 };
  expect(() => contentOf(object)).toThrow("broken");
  isBroken = false;
  expect(contentOf(object)).toBe(1);
});

test("a changed copy is read anew", () => {
  const contentOf = memo((object: { value: number }) => object.value);
  const object = { value: 1 };
  contentOf(object);
  expect(contentOf({ ...object, value: 2 })).toBe(2);
  expect(contentOf(structuredClone(object))).toBe(1);
});

test("a memo changes neither the JSON nor the equality of its object", () => {
  const slot = createSlot<object, string>();
  const object = { value: 1 };
  slot.set(object, "secret");
  slot.set(object, "other");
  expect(slot.get(object)).toBe("other");
  expect(JSON.stringify(object)).toBe('{"value":1}');
  expect(isDeepStrictEqual(object, { value: 1 })).toBe(true);
  expect(Object.keys(object)).toEqual(["value"]);
});
