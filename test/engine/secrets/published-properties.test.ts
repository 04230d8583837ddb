import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { MANAGED_BY, PUBLISHED } from "../../../src/engine/state/names.ts";
import { objectOf } from "../support/fixtures.ts";
import {
  base64,
  expectDiscretion,
  KINDS,
  live,
  MINUTE,
  type Name,
  valueIn,
  world,
} from "../support/published-world.ts";

afterEach(expectDiscretion);

const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 512_000;
const PEACE_MS = 600_000;

/** An edit of a published Secret, and the time until the next one. */
const happening = fc.record({
  what: fc.constantFrom(
    "relabelled",
    "unlabelled",
    "note stripped",
    "both stripped",
    "key edited",
    "entry edited",
    "deleted",
    "taken by somebody else",
    "restarted",
    "waited",
  ),
  restMs: fc.constantFrom(0, 1000, 15_000, 2 * MINUTE, 25 * MINUTE),
});

test.each(["MetricPipeline", "AccessToken"] as const)(
  "whatever happens to the Secret of a %s, there are no more new keys than lost ones, with growing pauses between",
  { timeout: 300_000 },
  async (kind: Name) => {
    const property = fc.asyncProperty(fc.array(happening, { minLength: 1, maxLength: 10 }), async (happenings) => {
      const here = world(kind);
      const { key } = KINDS[kind];
      let operator = await live(here);
      const isGood = () => here.secret() !== undefined && valueIn(here) === here.made.at(-1);
      const theirs = objectOf("Secret", here.name, { apiVersion: "v1", data: { [key]: base64("theirs") } });
      const first = here.made.length;
      let losses = 0;
      /** The time of each new key, and how many keys in a row it continues. */
      const renewals: { at: number; times: number }[] = [];
      let process = 0;
      let lastProcess = 0;
      const watched = async (ms: number) => {
        const stepMs = ms > MINUTE ? 5000 : 1000;
        for (let left = ms; ; left -= stepMs) {
          await here.clock.advance(Math.max(0, Math.min(left, stepMs)));
          if (here.made.length - first > renewals.length) {
            const at = here.clock.monotonic();
            const last = renewals.at(-1);
            const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (last?.times ?? 0), LONGEST_PAUSE_MS);
            const isSame = last && process === lastProcess && at - last.at < pauseMs + PEACE_MS;
            // A process knows the work of a former one only from status.
            if (last) expect(at - last.at + stepMs).toBeGreaterThanOrEqual(isSame ? pauseMs : FIRST_PAUSE_MS);
            renewals.push({ at, times: isSame ? last.times + 1 : 0 });
            lastProcess = process;
          }
          expect(here.made.length - first).toBe(renewals.length);
          expect(renewals.length).toBeLessThanOrEqual(losses);
          if (left <= stepMs) return;
        }
      };
      for (const { what, restMs } of happenings) {
        const [wasGood, there] = [isGood(), here.secret()?.metadata.uid !== theirs.metadata.uid && here.secret()];
        if (what === "relabelled" && there) await operator.relabel(MANAGED_BY, "somebody", 0);
        if (what === "unlabelled" && there) await operator.relabel(MANAGED_BY, undefined, 0);
        if (what === "note stripped" && there) await operator.annotate(PUBLISHED, undefined, 0);
        if (what === "both stripped" && there) {
          await operator.edit(({ metadata }) => {
            metadata.labels = {};
            metadata.annotations = {};
          }, 0);
        }
        const isLoss = ["key edited", "deleted", "taken by somebody else"].includes(what);
        if (isLoss && wasGood) losses++;
        if (what === "key edited" && there) await operator.enter(key, `edited ${losses}`, 0);
        if (what === "entry edited" && there && kind === "MetricPipeline")
          await operator.enter("endpoint", "edited", 0);
        if (isLoss && what !== "key edited" && there) operator.remove(there);
        if (what === "taken by somebody else" && there) operator.put(theirs);
        if (what === "restarted") {
          await operator[Symbol.asyncDispose]();
          process++;
          operator = await live(here, watched);
        }
        await watched(restMs);
      }
      if (here.secret()?.metadata.uid === theirs.metadata.uid) operator.remove(theirs);
      await watched(90 * MINUTE);
      expect(isGood()).toBe(true);
      expect(renewals.length).toBe(losses);
      expect(here.secret()?.metadata.labels).toMatchObject({ [MANAGED_BY]: "mooring" });
      expect(here.secret()?.metadata.annotations?.[PUBLISHED]).toContain(here.status().key?.fingerprint);
      expect(operator.ready()).toMatchObject({ status: "True" });
      await operator[Symbol.asyncDispose]();
    });
    await fc.assert(property, { numRuns: 20 });
  },
);
