import { expect, test } from "vitest";
import { createMemories } from "../../../src/engine/state/memory.ts";
import { fakeClock } from "../../fake-clock.ts";

test("news is for whoever has not looked since it came", () => {
  const memories = createMemories(fakeClock());
  const key = "Server/shop/web";
  const reconciledAt = 1000;
  expect(memories.hasReconciled(key)).toBe(false);
  memories.of(key).reconciledAt = reconciledAt;
  expect(memories.hasReconciled(key)).toBe(true);
  expect(memories.hasReconciled(key, reconciledAt - 1)).toBe(true);
  // It may have been read before the event, in the same instant.
  expect(memories.hasReconciled(key, reconciledAt)).toBe(false);
  memories.forget(key);
  expect(memories.hasReconciled(key, 0)).toBe(false);
});
