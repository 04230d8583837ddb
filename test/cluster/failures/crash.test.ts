import { describe, expect, it } from "vitest";
import { kinds } from "../../../src/kinds/index.ts";
import { disturbances } from "../../crash/disturbance.ts";
import { atCreation, chosenKinds, subjectsOf } from "../../crash/lives/lives.ts";
import { crashMatrix, faultsOf, type Result } from "../../crash/matrix.ts";
import { complaints, render } from "../../crash/verdict/print.ts";
import { cluster } from "../harness.ts";

// The worst positions of the matrix: a write was executed, and the operator did not get the answer. `make crash` has
// all positions, kinds and moments. test/engine/execute/recovery/protocol.test.ts covers reads.
const whole = "Datacenter";
const moments = ["executed"] as const;

/** A failure shows its runs, not only their number. */
const why = (result: Result): string => complaints(result).join("\n\n");

const allZero = { duplicates: 0, leaks: 0, lostSecrets: 0, stuck: 0, writesNotReached: 0 };

/** The number of runs of each kind, by phase. */
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
    // Half of the kinds use a ClusterAccount, among them the kind that is killed at every write.
    expect(result.kinds.map(({ account }) => account)).toEqual(expect.arrayContaining(["Account", "ClusterAccount"]));
    expect(result.kinds.find(({ kind }) => kind === whole)?.account).toBe("ClusterAccount");
    expect(faultsOf(result), why(result)).toEqual(allZero);
    const [one, ...others] = runsOf(result).sort((a, b) => b.runs - a.runs);
    expect(one).toMatchObject({ kind: whole, phases: ["create", "label", "update", "replace", "delete"] });
    expect(others).toEqual(
      kinds
        .filter(({ kind }) => kind !== whole)
        .map(({ kind }) => ({ kind, runs: moments.length, phases: ["create"] })),
    );
  });
});

// One kind that recovery finds by its content, and one whose key is shown only once.
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
