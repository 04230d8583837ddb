import { expect, test } from "vitest";
import type { Position } from "../calls.ts";
import type { Result } from "../matrix.ts";
import { complaints } from "./print.ts";

const position: Position = { phase: "create", side: "platform", method: "POST", route: "/volumes", nth: 1, process: 1 };

/** A matrix with one failed run, in which the suite was suspended for this long. */
function failed(stalledSeconds: number): Result {
  const problems = [{ fault: "duplicate" as const, message: "2 volumes instead of 1" }];
  const run = { moment: "executed" as const, reached: true, problems, seconds: 9, stalledSeconds, folder: "/tmp/x" };
  const rows = [{ number: 4, position, runs: [run] }];
  const totals = { runs: 1, duplicates: 1, leaks: 0, lostSecrets: 0, stuck: 0, notReached: 0, writesNotReached: 0 };
  const kinds = [{ kind: "Volume", account: "Account" as const, creationOnly: false, rows }];
  return { impatient: false, shards: undefined, kinds, totals, seconds: 9 };
}

test("a failed run is printed with its problem, the command to repeat it and the place of its logs", () => {
  expect(complaints(failed(0.1))).toEqual([
    `Volume 4, killed executed create: platform POST /volumes #1
  duplicate: 2 volumes instead of 1
  again: make crash ARGS="--kind Volume --account Account --position 4 --moment executed"
  logs:  /tmp/x`,
  ]);
});

test("a run in which the suite itself stood still says so", () => {
  expect(complaints(failed(8.12))[0]).toContain(
    "stood still for 8.1 s: longer than the 4 s that the operator allows for",
  );
});
