import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAgenda } from "../../../src/simulator/agenda.ts";
import { createClock, type MachineTime } from "../../../src/simulator/time.ts";
import { resource, serverBody, startPlatform } from "../platform.ts";

/** A clock that a test moves. */
function stillMachine() {
  let elapsed = 0;
  const timers: { at: number; fire(): void }[] = [];
  const machine: MachineTime = {
    now: () => 1_000_000 + elapsed,
    monotonic: () => elapsed,
    after(ms, fire) {
      const timer = { at: elapsed + ms, fire };
      timers.push(timer);
      return () => {
        if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1);
      };
    },
  };
  return {
    machine,
    timers,
    pass(ms: number) {
      elapsed += ms;
      for (const timer of timers.filter(({ at }) => at <= elapsed)) {
        timers.splice(timers.indexOf(timer), 1);
        timer.fire();
      }
    },
  };
}

describe("the simulated clock", () => {
  it("runs at its speed, jumps when advanced and starts no earlier than told", () => {
    const { machine, pass } = stillMachine();
    const clock = createClock(machine, 10, 5_000_000);
    expect(clock.now()).toBe(5_000_000);
    pass(100);
    expect(clock.now()).toBe(5_001_000);
    clock.advance(60_000);
    expect(clock.now()).toBe(5_061_000);
    expect(clock.realUntil(5_062_000)).toBe(100);
    expect(clock.realUntil(0)).toBe(0);
  });
});

describe("the agenda", () => {
  it("fires everything due, in order of time and then of entry, and nothing else", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50 })), fc.integer({ min: 0, max: 50 }), (delays, until) => {
        const { machine, pass } = stillMachine();
        const clock = createClock(machine, 1);
        const agenda = createAgenda(clock, machine);
        const start = clock.now();
        const fired: [number, number][] = [];
        for (const [order, delay] of delays.entries())
          agenda.schedule(start + delay, (at) => fired.push([at - start, order]));
        pass(until);
        agenda.run();
        const due = delays.map((delay, order): [number, number] => [delay, order]).filter(([delay]) => delay <= until);
        expect(fired).toEqual(due.sort((a, b) => a[0] - b[0] || a[1] - b[1]));
      }),
    );
  });

  it("needs one timer only, for the earliest entry, and none after it is closed", () => {
    const { machine, pass, timers } = stillMachine();
    const clock = createClock(machine, 2);
    const agenda = createAgenda(clock, machine);
    const fired: string[] = [];
    agenda.schedule(clock.now() + 400, () => fired.push("late"));
    agenda.schedule(clock.now() + 200, () => fired.push("early"));
    expect(timers).toHaveLength(1);
    pass(99);
    expect(fired).toEqual([]);
    pass(1);
    expect(fired).toEqual(["early"]);
    expect(timers).toHaveLength(1);
    agenda.close();
    pass(1000);
    expect(fired).toEqual(["early"]);
  });
});

describe("the same seed", () => {
  async function story(seed: number) {
    const platform = await startPlatform({ seed });
    const datacenter = await platform.datacenter();
    const answer = await platform.core("POST", `${datacenter}/servers`, serverBody());
    let steps = 0;
    while ((await platform.requestOf(answer)).status === "BUSY") {
      await platform.advance(0.1);
      steps += 1;
    }
    const { id, entities } = resource(answer);
    await platform.close();
    const { contractNumber } = platform.ready;
    return {
      contractNumber,
      datacenter,
      id,
      volume: entities?.volumes?.items?.[0]?.id,
      nic: entities?.nics?.items?.[0]?.id,
      request: answer.headers.get("location")?.split("/requests/")[1],
      steps,
    };
  }

  it("tells the same story: ids, durations, contract", async () => {
    const [first, second, other] = [await story(11), await story(11), await story(12)];
    expect(second).toEqual(first);
    expect(other.id).not.toBe(first.id);
    expect(other.contractNumber).not.toBe(first.contractNumber);
  });
});
