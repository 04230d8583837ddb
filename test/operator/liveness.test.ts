import { describe, expect, test } from "vitest";
import { createLiveness } from "../../src/operator/liveness.ts";
import { fakeClock } from "../fake-clock.ts";

/** A queue with this many waiting keys, and workers whose passes have run for this many seconds. */
function open(depth: number, inWork: number[] = []) {
  const clock = fakeClock();
  const queue = { depth, inWork: () => inWork };
  return { clock, queue, liveness: createLiveness(clock, () => queue) };
}

describe("an operator is well", () => {
  test("while it stands by, however much waits for the one that leads", async () => {
    const { clock, liveness } = open(500);
    await clock.advance(600_000);
    expect(liveness.problem()).toBeUndefined();
  });

  test("while passes end, and while there is nothing to do", async () => {
    const { clock, liveness, queue } = open(500);
    liveness.begin();
    for (let minute = 0; minute < 5; minute++) {
      await clock.advance(60_000);
      liveness.beat();
    }
    expect(liveness.problem()).toBeUndefined();
    queue.depth = 0;
    await clock.advance(600_000);
    expect(liveness.problem()).toBeUndefined();
  });
});

describe("an operator is to be started again", () => {
  test("when objects wait and no worker has made progress for two minutes", async () => {
    const { clock, liveness } = open(3);
    liveness.begin();
    await clock.advance(119_000);
    expect(liveness.problem()).toBeUndefined();
    await clock.advance(1000);
    expect(liveness.problem()).toBe("3 objects are waiting, and no worker has made progress for 120 s");
  });

  test("when a pass goes on long after its deadline, which ends all others", () => {
    const { liveness, queue } = open(0, [1, 179, 3]);
    liveness.begin();
    liveness.beat();
    expect(liveness.problem()).toBeUndefined();
    queue.inWork = () => [1, 181, 3];
    expect(liveness.problem()).toBe("one reconcile has been running for 181 s");
  });
});
