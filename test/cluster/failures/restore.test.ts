import { describe, expect, it } from "vitest";
import { type Case, restoreAll, restoredKinds, summaryOf, titleOf } from "../../crash/restore/restore.ts";

// One case for each way of finding a resource: the request log, the collection, a number, and none. `make crash
// ARGS=--restore` has all kinds and cases.
const kinds = ["Datacenter", "Lan", "MetricPipeline", "AccessToken"];
const cases: Case[] = [
  { backup: "before the intent", into: "running" },
  { backup: "after the claim", into: "running" },
  { backup: "before the intent", into: "new cluster", key: true },
  { backup: "after the claim", into: "new cluster", status: true, key: false },
];

describe("a restored backup", { timeout: 1_800_000 }, () => {
  it("makes nothing twice and deletes nothing that nobody asked to delete, or says what to do", async () => {
    const chosen = restoredKinds.filter(({ kind }) => kinds.includes(kind));
    const outcomes = await restoreAll(chosen, cases, (outcome) => console.log(summaryOf(outcome)));
    const problems = outcomes.flatMap((each) => each.problems.map((problem) => `${titleOf(each)}: ${problem}`));
    expect(problems).toEqual([]);
  });
});
