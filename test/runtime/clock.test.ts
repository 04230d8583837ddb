import { expect, test, vi } from "vitest";
import { systemClock } from "../../src/runtime/clock.ts";

test("a time that is over is no negative time-out, of which Node would warn", () => {
  const timer = vi.spyOn(globalThis, "setTimeout");
  systemClock.after(-5, () => {})();
  systemClock.after(Number.NEGATIVE_INFINITY, () => {})();
  const asked = timer.mock.calls.map(([, ms]) => ms);
  timer.mockRestore();
  expect(asked).toEqual([0, 0]);
});
