import { expect, test } from "vitest";
import { createLazyJson } from "../../src/runtime/lazy-json.ts";

test("what is packed is the same object while it is in use, and equal later", () => {
  const unpacked = createLazyJson<unknown>();
  const packed = { text: '{"a":[1]}' };
  const first = unpacked.get(packed);
  expect(first).toEqual({ a: [1] });
  expect(unpacked.get(packed)).toBe(first);
  for (let n = 0; n < 1000; n++) unpacked.get({ text: "{}" });
  expect(unpacked.get(packed)).not.toBe(first);
  expect(unpacked.get(packed)).toEqual(first);
});

test("what is at hand while it is packed is not parsed", () => {
  const unpacked = createLazyJson<unknown>();
  const [packed, value] = [{ text: "not read" }, { a: 1 }];
  unpacked.remember(packed, value);
  expect(unpacked.get(packed)).toBe(value);
});
