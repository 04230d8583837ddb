import { expect, test } from "vitest";
import { createLazyJson } from "../../src/runtime/lazy-json.ts";

test("a packed value is the same object while it is in use, and equal later", () => {
  const unpacked = createLazyJson<unknown>();
  const lazy = { text: '{"a":[1]}' };
  const first = unpacked.get(lazy);
  expect(first).toEqual({ a: [1] });
  expect(unpacked.get(lazy)).toBe(first);
  for (let n = 0; n < 1000; n++) unpacked.get({ text: "{}" });
  expect(unpacked.get(lazy)).not.toBe(first);
  expect(unpacked.get(lazy)).toEqual(first);
});

test("a value that is known when it is packed is not parsed", () => {
  const unpacked = createLazyJson<unknown>();
  const [lazy, value] = [{ text: "not read" }, { a: 1 }];
  unpacked.remember(lazy, value);
  expect(unpacked.get(lazy)).toBe(value);
});
