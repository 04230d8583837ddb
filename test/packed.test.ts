import { expect, test } from "vitest";
import { remember, unpack } from "../src/packed.ts";

test("what is packed is the same object while it is in use, and equal later", () => {
  const packed = { text: '{"a":[1]}' };
  const first = unpack(packed);
  expect(first).toEqual({ a: [1] });
  expect(unpack(packed)).toBe(first);
  for (let n = 0; n < 1000; n++) unpack({ text: "{}" });
  expect(unpack(packed)).not.toBe(first);
  expect(unpack(packed)).toEqual(first);
});

test("what is at hand while it is packed is not parsed", () => {
  const [packed, value] = [{ text: "not read" }, { a: 1 }];
  remember(packed, value);
  expect(unpack(packed)).toBe(value);
});
