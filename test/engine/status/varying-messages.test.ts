import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { differs } from "../../../src/engine/status/status.ts";
import { Forbidden, Retry, Unauthorized } from "../../../src/platform/answers/errors.ts";
import { isSameAnswer } from "../../../src/platform/answers/varying.ts";
import { fakeClock } from "../../fake-clock.ts";
import { objectOf } from "../support/fixtures.ts";
import { restingDatacenters } from "../support/resting.ts";
import { accountOf, credentials, runEngine } from "../support/running-engine.ts";
import { SETTINGS } from "../support/stage.ts";

const date = fc.date({ min: new Date(0), max: new Date("9999-01-01"), noInvalidDate: true });
/** The parts that differ between two answers. */
const varying = fc.oneof(
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
  // Our own id, as the platform repeats it.
  fc.tuple(fc.integer({ min: 10_000_000, max: 99_999_999 }), fc.nat()).map(([one, two]) => `${one}-${two}`),
  fc.uuid().map((id) => id.replaceAll("-", "")),
  date.map((at) => at.toISOString()),
  date.map((at) => at.toISOString().replace("Z", "+02:00")),
  fc.integer({ min: 10_000 }).map(String),
);
/** Words and small numbers: status codes, error codes, ports, versions. */
const word = fc.oneof(
  fc.constantFrom("the", "token", "is", "refused,", "request", "id:", "(code", "answered", "503:", "v6", "feedface"),
  fc.nat({ max: 9999 }).map(String),
);
const words = fc.array(word, { maxLength: 8 });

describe("an answer", () => {
  test("is the same when only ids, times and long numbers are others", () => {
    const one = fc.tuple(words, varying, varying, words);
    fc.assert(
      fc.property(one, varying, varying, ([before, a, b, after], c, d) => {
        const said = (...ids: string[]) => [...before, ...ids, ...after].join(" ");
        // A date is not compared with a number.
        if (shapeOf(a) !== shapeOf(c) || shapeOf(b) !== shapeOf(d)) return;
        expect(isSameAnswer(said(a, b), said(c, d))).toBe(true);
      }),
    );
  });

  test("is another one when a word or a small number is", () => {
    fc.assert(
      fc.property(words, words, varying, (one, other, id) => {
        const said = (all: string[]) => [...all, id].join(" ");
        expect(isSameAnswer(said(one), said(other))).toBe(said(one) === said(other));
      }),
    );
  });
});

const shapeOf = (text: string) => (/T\d/.test(text) ? "time" : "id");

describe("a status", () => {
  const statusOf = (reason: string, message: string, more: object = {}) => ({
    observedGeneration: 1,
    conditions: [
      {
        type: "Ready",
        status: "False",
        reason,
        message,
        observedGeneration: 1,
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ],
    ...more,
  });
  const said = () => `the token is wrong (request ${randomUUID()})`;

  test("is not worth a write when the platform refuses again under another id", () => {
    const object = objectOf("Datacenter", "a", { status: statusOf("Unauthorized", said()) });
    expect(differs(object, statusOf("Unauthorized", said()))).toBe(false);
    expect(differs(object, statusOf("Unauthorized", "the token has expired"))).toBe(true);
    expect(differs(object, statusOf("Forbidden", said()))).toBe(true);
    expect(differs(object, statusOf("Unauthorized", said(), { state: "BUSY" }))).toBe(true);
  });

  test("is worth a write when it names another resource or time that a reader acts on", () => {
    for (const reason of ["Ambiguous", "Rejected", "ProvisioningFailed", "Available"]) {
      const object = objectOf("Datacenter", "a", { status: statusOf(reason, said()) });
      expect(differs(object, statusOf(reason, said()))).toBe(true);
    }
  });
});

describe("50 objects whose platform refuses each call under another request id", () => {
  test.each([
    ["401", (message: string) => new Unauthorized({ call: "GET /x", status: 401, platformMessage: message })],
    ["403", (message: string) => new Forbidden({ call: "GET /x", status: 403, platformMessage: message })],
    ["503", (message: string) => new Retry({ call: "GET /x", status: 503, platformMessage: message }, "no")],
  ])("with %s are told once, and not at every recheck", async (_, refusal) => {
    const clock = fakeClock();
    const { platform, objects } = restingDatacenters(50);
    const settings = { ...SETTINGS, retryMs: 20_000, resyncMs: 40_000, recheckMs: 30_000 };
    const all = [accountOf("main"), credentials, ...objects];
    await using engine = await runEngine(all, { clock, platform, settings, shows: true });
    await clock.advance(30_000);
    let answers = 0;
    platform.beforeEach(() => {
      answers += 1;
      throw refusal(`refused at ${new Date(clock.now()).toISOString()} (request ${randomUUID()})`);
    });
    const writes = () => engine.api.calls.filter(({ method }) => method !== "GET").length;
    await clock.advance(2 * settings.recheckMs);
    const [reported, asked] = [writes(), answers];
    expect(reported).toBeGreaterThan(0);
    await clock.advance(6 * settings.recheckMs);
    expect(answers).toBeGreaterThan(asked);
    expect(writes()).toBe(reported);
  });
});
