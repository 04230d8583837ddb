import { expect, test } from "vitest";
import { createMemories } from "../../../src/engine/state/memory.ts";
import { fakeClock } from "../../fake-clock.ts";

test("news is for whoever has not looked since it came", () => {
  const memories = createMemories(fakeClock());
  const key = "Server/shop/web";
  const lookedAt = 1000;
  expect(memories.hasLooked(key)).toBe(false);
  memories.of(key).lookedAt = lookedAt;
  expect(memories.hasLooked(key)).toBe(true);
  expect(memories.hasLooked(key, lookedAt - 1)).toBe(true);
  // It may have been read before the event, in the same instant.
  expect(memories.hasLooked(key, lookedAt)).toBe(false);
  memories.forget(key);
  expect(memories.hasLooked(key, 0)).toBe(false);
});
