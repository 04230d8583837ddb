import { expect, test } from "vitest";
import { createSigner } from "../../src/runtime/signer.ts";

test("a signature that was made or verified before proves nothing about other content", () => {
  const { sign, judge } = createSigner(() => ["one"]);
  const signature = sign({ id: "a" });
  expect([1, 2].map(() => judge({ id: "a", drift: [] }, signature))).toEqual(["ours", "ours"]);
  expect(judge({ id: "b" }, signature)).toBe("absent");
  expect(judge({ id: "a" }, `${signature}x`)).toBe("absent");
});

test("content that was judged with a wrong signature does not count later", () => {
  const { judge, sign } = createSigner(() => ["one"]);
  const wrong = createSigner(() => ["one"]).sign({ id: "b" });
  expect([1, 2].map(() => judge({ id: "a" }, wrong))).toEqual(["absent", "absent"]);
  expect(judge({ id: "b" }, wrong)).toBe("ours");
  expect(judge({ id: "a" }, sign({ id: "a" }))).toBe("ours");
});

test("a signature that was verified before is foreign once its key is gone, and counts again with the key", () => {
  let keys = ["one"];
  const { sign, judge } = createSigner(() => keys);
  const signature = sign({ id: "a" });
  keys = ["two"];
  expect(judge({ id: "a" }, signature)).toBe("foreign");
  keys = ["two", "one"];
  expect(judge({ id: "a" }, signature)).toBe("ours");
});
