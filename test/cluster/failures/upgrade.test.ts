import { afterAll, describe, expect, it } from "vitest";
import { kinds } from "../../../src/kinds/index.ts";
import { checkOut, lastLanded } from "../../crash/former.ts";
import { chosenKinds, subjectsOf } from "../../crash/lives/lives.ts";
import { crashMatrix, faultsOf } from "../../crash/matrix.ts";
import { complaints, render } from "../../crash/verdict/print.ts";
import { cluster } from "../harness.ts";

const revision = lastLanded();
const former = revision === undefined ? undefined : checkOut(revision);
afterAll(() => former?.remove());

// `make crash ARGS="--from REVISION"` does this at every call of every kind.
describe("an upgrade from the version that landed last", () => {
  it.skipIf(!former)(
    "finds what was being created, replaced, rotated or deleted, and finishes it",
    {
      timeout: 600_000,
    },
    async () => {
      const subjects = subjectsOf(chosenKinds(kinds, ["Datacenter", "MetricPipeline"]));
      // A change is the least risky phase.
      const writes = ["create", "replace", "rotate", "delete"];
      const moments = ["executed"] as const;
      const { kubeconfig } = cluster();
      const result = await crashMatrix({ kubeconfig, subjects, moments, writes, slice: true, former: former?.path });
      console.log(`from ${revision}\n${render(result)}`);
      expect(faultsOf(result), complaints(result).join("\n\n")).toEqual({
        duplicates: 0,
        leaks: 0,
        lostSecrets: 0,
        stuck: 0,
        writesNotReached: 0,
      });
      const phases = result.kinds.flatMap(({ rows }) => rows.map(({ position }) => position.phase));
      expect(new Set(phases)).toEqual(new Set(writes));
    },
  );
});
