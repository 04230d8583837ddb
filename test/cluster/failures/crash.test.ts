import { describe, expect, it } from "vitest";
import { kinds } from "../../../src/kinds/index.ts";
import { disturbances } from "../../crash/disturbance.ts";
import { atCreation, chosenKinds, subjectsOf } from "../../crash/lives/lives.ts";
import { crashMatrix, faultsOf, type Result } from "../../crash/matrix.ts";
import { complaints, render } from "../../crash/verdict/print.ts";
import { cluster } from "../harness.ts";

// All positions of all kinds at all moments: `make crash`. These are the worst of them: something was written, and nobody
// heard of it. What was only read is as it was before, which test/engine/execute/recovery/protocol.test.ts has between any two effects.
const whole = "Datacenter";
const moments = ["executed"] as const;

/** A failure shows the runs behind it, not only a number. */
const why = (result: Result): string => complaints(result).join("\n\n");

const allZero = { duplicates: 0, leaks: 0, lostSecrets: 0, stuck: 0, writesNotReached: 0 };

/** How many runs each kind had, at which phases. */
const runsOf = ({ kinds }: Result) =>
  kinds.map(({ kind, rows }) => ({
    kind,
    runs: rows.reduce((sum, each) => sum + each.runs.length, 0),
    phases: [...new Set(rows.map(({ position }) => position.phase))],
  }));

describe("an operator killed while its call is executed", () => {
  it("every kind with a resource on the platform has a life to be killed in", () => {
    const covered = subjectsOf(kinds).map(({ kind }) => kind.kind);
    expect(covered).toEqual(expect.arrayContaining(kinds.filter((each) => each.resource).map(({ kind }) => kind)));
  });

  it("at the creation of every kind, and at any write of one, leaves nothing twice, nothing lost and nothing stuck", {
    timeout: 900_000,
  }, async () => {
    const subjects = subjectsOf(kinds).map((each) => (each.kind.kind === whole ? each : atCreation(each)));
    const result = await crashMatrix({ kubeconfig: cluster().kubeconfig, subjects, moments, slice: true });
    console.log(render(result));
    // One kind with each: half of them with a ClusterAccount, the one that is killed everywhere among them.
    expect(result.kinds.map(({ account }) => account)).toEqual(expect.arrayContaining(["Account", "ClusterAccount"]));
    expect(result.kinds.find(({ kind }) => kind === whole)?.account).toBe("ClusterAccount");
    expect(faultsOf(result), why(result)).toEqual(allZero);
    const [one, ...others] = runsOf(result).sort((a, b) => b.runs - a.runs);
    expect(one).toMatchObject({ kind: whole, phases: ["create", "update", "replace", "delete"] });
    expect(others).toEqual(
      kinds
        .filter(({ kind }) => kind !== whole)
        .map(({ kind }) => ({ kind, runs: moments.length, phases: ["create"] })),
    );
  });
});

// One kind that can be found by what it was made of, and one whose key is told once.
const moved = ["Datacenter", "MetricPipeline"];

describe("a namespace moved to another shard while its call is executed", () => {
  it.concurrent.each(disturbances)(
    "leaves nothing twice, nothing lost and nothing stuck (%s)",
    {
      timeout: 900_000,
    },
    async (shards) => {
      const subjects = subjectsOf(chosenKinds(kinds, moved)).map(atCreation);
      const result = await crashMatrix({ kubeconfig: cluster().kubeconfig, subjects, moments, shards });
      expect(faultsOf(result), why(result)).toEqual(allZero);
      expect(result.totals.runs).toBe(moved.length);
    },
  );
});
