import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import {
  createPlatformTime,
  latestTime,
  platformTime,
  reachedTime,
  withoutDoubt,
} from "../../../src/platform/calls/platform-time.ts";
import { createTransport, type Transport } from "../../../src/platform/calls/transport.ts";
import { fakeClock } from "../../fake-clock.ts";
import { answer, scriptedServer } from "../scripted-server.ts";

const DAY = 86_400_000;
const MINUTE = 60_000;
/** A Date header may be off by half a second, and by half the round trip. */
const SLOWEST_MS = 8000;
const NOISE_MS = 500 + SLOWEST_MS / 2;

/** A machine and a platform with separate clocks. The platform's is right. */
function clocks(skewMs: number) {
  let [time, stepped] = [0, 0];
  const truth = () => Date.UTC(2026, 0, 1) + time;
  const own = { now: () => truth() - skewMs + stepped, monotonic: () => time + 777 };
  const estimated = createPlatformTime(own);
  return {
    estimated,
    /** The error of the estimate, by the platform's clock. */
    error: () => own.now() + estimated.aheadMs - truth(),
    wait(ms: number) {
      time += ms;
    },
    /** Somebody sets the machine's clock. */
    step(ms: number) {
      stepped += ms;
    },
    /** An answer whose header was written after `part` of its round trip. */
    answer({ takesMs = 0, part = 0.5, off = 0 } = {}) {
      const leftAt = own.monotonic();
      time += takesMs * part;
      const header = new Date(truth() + off).toUTCString();
      time += takesMs * (1 - part);
      estimated.add(header, leftAt, own.monotonic());
    },
  };
}

const good = fc.record({
  takesMs: fc.integer({ min: 0, max: SLOWEST_MS }),
  part: fc.double({ min: 0, max: 1, noNaN: true }),
});
const wild = fc.record({
  off: fc.oneof(fc.integer({ min: -4000 * DAY, max: 4000 * DAY }), fc.constantFrom(400 * DAY, -400 * DAY)),
});
const skews = fc.oneof(
  fc.integer({ min: -10 * MINUTE, max: 10 * MINUTE }),
  fc.integer({ min: -900 * DAY, max: 900 * DAY }),
);
/** Answers of which at most one in three is wrong, in any window. */
const mostlyGood = fc
  .array(fc.record({ before: good, after: good, wild, isWild: fc.boolean() }), { minLength: 1, maxLength: 20 })
  .map((groups) =>
    groups.flatMap(({ before, after, wild, isWild }) => (isWild ? [before, wild, after] : [before, after])),
  );

describe("the platform's clock", () => {
  test("is known to within the noise of its answers, whatever a minority of them says", () => {
    fc.assert(
      fc.property(skews, mostlyGood, (skewMs, answers) => {
        const { answer, estimated, error } = clocks(skewMs);
        answers.forEach((each, nth) => {
          answer(each);
          // Two answers must agree against our own clock, which is the third vote.
          if (nth >= 2) expect(Math.abs(error())).toBeLessThanOrEqual(NOISE_MS + 1);
        });
        expect(Math.abs(estimated.aheadMs - skewMs)).toBeLessThanOrEqual(NOISE_MS + 1);
      }),
    );
  });

  test("is not moved further than the noise by one answer, at any time", () => {
    fc.assert(
      fc.property(fc.array(good, { maxLength: 20 }), wild, skews, (before, outlier, skewMs) => {
        const { answer, estimated } = clocks(skewMs);
        for (const each of before) answer(each);
        const known = estimated.aheadMs;
        answer(outlier);
        const moved = Math.abs(estimated.aheadMs - known);
        // After a single answer, the second one only decides whether our own clock is right.
        const bound = before.length === 1 ? Math.abs(skewMs) + NOISE_MS : 2 * NOISE_MS;
        expect(moved).toBeLessThanOrEqual(bound + 1);
      }),
    );
  });

  test("is the same when our own wall clock is set, forwards or back", () => {
    fc.assert(
      fc.property(fc.array(good, { minLength: 3, maxLength: 12 }), skews, skews, (answers, skewMs, jump) => {
        const { answer, step, error } = clocks(skewMs);
        for (const each of answers) answer(each);
        step(jump);
        expect(Math.abs(error())).toBeLessThanOrEqual(NOISE_MS + 1);
      }),
    );
  });

  test("is followed when it jumps, as soon as more than half of the last answers say so", () => {
    const { answer, wait, estimated } = clocks(0);
    for (let nth = 0; nth < 20; nth++) answer();
    const later: number[] = [];
    for (let nth = 0; nth < 5; nth++) {
      wait(1000);
      answer({ off: DAY });
      later.push(Math.round(estimated.aheadMs / DAY));
    }
    expect(later).toEqual([0, 0, 0, 0, 1]);
  });

  test("is asked for again while it is in doubt, and not for ever", async () => {
    const { answer, estimated } = clocks(66 * MINUTE);
    let reads = 0;
    await withoutDoubt(estimated, async () => {
      reads++;
      answer();
    });
    expect([reads, Math.round(estimated.aheadMs / MINUTE), estimated.inDoubt]).toEqual([2, 66, false]);
    await withoutDoubt(estimated, async () => {
      reads++;
      answer({ off: reads * DAY });
    });
    expect(reads).toBeLessThan(10);
  });
});

describe("a connection", () => {
  const transports: Transport[] = [];
  afterEach(async () => {
    for (const transport of transports.splice(0)) await transport.close();
  });

  test("does not believe one Date header that is 400 days ahead", async () => {
    const clock = fakeClock();
    let off = 0;
    await using server = await scriptedServer((arrived, response, request) => {
      const date = new Date(clock.now() + off).toUTCString();
      answer(200, {}, { date })(arrived, response, request);
    });
    const transport = createTransport({ clock, random: () => 0 });
    transports.push(transport);
    for (const before of [0, 1, 8]) {
      const connection = transport.connect(`ns/${before}`, { token: "tok" });
      const send = () => connection.send({ method: "GET", url: `${server.url}/x` });
      for (let nth = 0; nth < before; nth++) await send();
      off = 400 * DAY;
      await send();
      expect(Math.abs(connection.aheadMs ?? 0)).toBeLessThan(2000);
      off = 0;
    }
  });

  test("knows a platform that is behind", async () => {
    const clock = fakeClock();
    await using server = await scriptedServer((arrived, response, request) => {
      const date = new Date(clock.now() - 66 * MINUTE).toUTCString();
      answer(200, {}, { date })(arrived, response, request);
    });
    const transport = createTransport({ clock, random: () => 0 });
    transports.push(transport);
    let doubts = 0;
    const doubted = () => {
      doubts++;
    };
    const connection = transport.connect("ns/a", { token: "tok" }, { doubted });
    for (let nth = 0; nth < 3; nth++) await connection.send({ method: "GET", url: `${server.url}/x` });
    expect(Math.round((connection.aheadMs ?? 0) / MINUTE)).toBe(-66);
    expect(transport.skews()).toEqual([{ account: "ns/a", aheadMs: connection.aheadMs }]);
    expect(doubts).toBe(1);
  });

  test("goes by the clock of the API, whatever the host of another product says", async () => {
    const clock = fakeClock();
    const telling = (off: number) =>
      scriptedServer((arrived, response, request) => {
        const date = new Date(clock.now() + off).toUTCString();
        answer(200, {}, { date })(arrived, response, request);
      });
    await using api = await telling(0);
    await using other = await telling(DAY);
    const transport = createTransport({ clock, random: () => 0 });
    transports.push(transport);
    const connection = transport.connect("ns/a", { token: "tok" });
    await connection.send({ method: "GET", url: api.url, product: "core" });
    for (let nth = 0; nth < 9; nth++) await connection.send({ method: "GET", url: other.url, product: "dns" });
    expect(Math.abs(connection.aheadMs ?? 0)).toBeLessThan(2000);
    expect(connection.inDoubt).toBe(false);
  });
});

test("of two clocks that differ, both have reached the earlier time, and neither has passed the later one", () => {
  const clock = fakeClock();
  for (const aheadMs of [-66 * MINUTE, 0, 66 * MINUTE]) {
    const both = [clock.now(), platformTime(clock, { aheadMs })];
    expect(reachedTime(clock, { aheadMs })).toBe(Math.min(...both));
    expect(latestTime(clock, { aheadMs })).toBe(Math.max(...both));
  }
});
