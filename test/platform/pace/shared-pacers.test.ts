import { expect, test } from "vitest";
import { createPacer } from "../../../src/platform/pace/pacer.ts";
import { sharePacers } from "../../../src/platform/pace/shared-pacers.ts";
import { fakeClock } from "../../fake-clock.ts";

test("Accounts with one credential share a pacer, which obeys the lowest of their limits as long as that one is used", () => {
  const clock = fakeClock();
  const most: (() => number)[] = [];
  const pacersOf = sharePacers((allowed) => {
    most.push(allowed);
    return createPacer({ clock, most: allowed });
  });
  const free = pacersOf("token", "shop/main");
  expect(free.at("host").rate).toBe(50);
  const limited = pacersOf("token", "shop/agreed", 10);
  expect(limited.at("host")).toBe(free.at("host"));
  expect(free.at("host").rate).toBe(10);
  expect(pacersOf.all()).toMatchObject([{ accounts: ["shop/main", "shop/agreed"] }]);
  limited.release();
  expect(most.map((allowed) => allowed())).toEqual([500]);
  free.release();
  expect(pacersOf.all()).toEqual([]);
});
