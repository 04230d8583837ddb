import { describe, expect, it } from "vitest";
import { kinds } from "../../src/kinds/index.ts";
import { subjectsOf } from "../crash/lives.ts";
import { crashMatrix, type Result } from "../crash/matrix.ts";
import { complaints, render } from "../crash/print.ts";
import { cluster } from "./harness.ts";

// All kinds: `make crash`.
const slice = ["Datacenter", "MetricPipeline"];

/** A failure shows the runs behind it, not only a number. */
const why = (result: Result): string => complaints(result).join("\n\n");

describe("an operator killed at any call of a life, before, during and after it", () => {
  it("is started again and leaves nothing twice, nothing lost and nothing stuck", { timeout: 900_000 }, async () => {
    const subjects = subjectsOf(kinds).filter(({ kind }) => slice.includes(kind.kind));
    const result = await crashMatrix({ kubeconfig: cluster().kubeconfig, subjects });
    console.log(render(result));
    const { runs, notReached: _, ...mustBeZero } = result.totals;
    expect(runs).toBeGreaterThan(100);
    expect(mustBeZero, why(result)).toEqual({ duplicates: 0, leaks: 0, lostSecrets: 0, stuck: 0, writesNotReached: 0 });
  });
});
