import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createActivity, mostEntries, mostReads } from "../../../src/simulator/activity/log.ts";
import { createChance } from "../../../src/simulator/chance.ts";
import { noInjection } from "../../../src/simulator/faults/chooser.ts";
import { createDocuments } from "../../../src/simulator/store/documents.ts";

describe("the activity log", () => {
  function emptyLog() {
    const documents = createDocuments(() => {});
    const counts = new Map<string, number>();
    const counters = {
      next(purpose: string) {
        const count = counts.get(purpose) ?? 0;
        counts.set(purpose, count + 1);
        return count;
      },
    };
    const clock = { now: () => 1_000_000, advance() {}, realUntil: () => 0 };
    const identity = { users: documents.table("users", z.never()) };
    const chance = createChance(1, counters);
    const activity = createActivity({ documents, counters, chance, clock, identity, scope: "" });
    return { documents, activity };
  }

  it("keeps no more than a fixed number of entries: the oldest go", () => {
    const { documents, activity } = emptyLog();
    documents.transaction(() => activity.fill(mostEntries + 5, 0, mostEntries + 5));
    const kept = activity.read(0, Number.POSITIVE_INFINITY).map(({ at }) => at);
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([mostEntries, 5, mostEntries + 4]);
  });

  it("keeps fewer reads, which push no change out", () => {
    const { documents, activity } = emptyLog();
    documents.transaction(() => activity.fill(3, 0, 3));
    const route = { method: "GET", template: "/cloudapi/v6/locations", access: "user" } as const;
    const answer = () => ({ status: 200 });
    const user = { id: "u", username: "a@b", password: "", role: "owner", twoFactor: false, active: true } as const;
    for (let at = 10; at < mostReads + 20; at += 1) {
      const call = {
        method: route.method,
        path: route.template,
        params: {},
        query: new URLSearchParams(),
        headers: {},
        body: "",
        origin: "http://127.0.0.1",
        caller: { contractNumber: 1, user: { ...user, privileges: [] }, tokenId: "t" },
        from: "127.0.0.1",
        at,
        effects: noInjection.effects,
      };
      activity.called(call, { ...route, handle: answer }, answer);
    }
    const kept = activity.read(0, Number.POSITIVE_INFINITY);
    expect(kept.filter(({ type }) => type === "Read").map(({ at }) => at)).toEqual(
      Array.from({ length: mostReads }, (_, nth) => nth + 20),
    );
    expect(kept).toHaveLength(mostReads + 3);
  });
});
