import { expect, test } from "vitest";
import { createMemories, statusIn } from "../../../src/engine/state/memory.ts";
import { fakeClock } from "../../fake-clock.ts";
import { objectOf } from "../support/fixtures.ts";

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

test("a write that status does not have yet is that of its own resource, until status has another one", () => {
  const since = "2026-01-01T00:00:00.000Z";
  const request = { action: "replace", status: "BUSY", since } as const;
  const newer = { ...request, action: "update" };
  const unwritten = { request, at: 0, id: "vol-1", before: undefined };
  const shown = (status: object) => statusIn(objectOf("Volume", "a", { spec: {}, status }), { unwritten }).request;
  expect(shown({ id: "vol-1" })).toEqual(request);
  expect(shown({ id: "vol-1", request: newer })).toEqual(newer);
  // Another shard has replaced the resource meanwhile: to forget the new one would make a third.
  expect(shown({ id: "vol-2" })).toBeUndefined();
});
