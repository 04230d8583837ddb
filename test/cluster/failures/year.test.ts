import { expect, it } from "vitest";
import { year } from "../../soak/year.ts";
import { cluster } from "../harness.ts";

// `make soak ARGS=--year` plays the whole year.
it("in the days of a year, nothing that is in use expires, and no object has more than two tokens or leaves one", {
  timeout: 300_000,
}, async () => {
  const { problems, made, killed } = await year({ kubeconfig: cluster().kubeconfig, days: 2, seed: 1 });
  expect(problems).toEqual([]);
  // Nine objects have a token; those with a lifetime of a day are renewed in this time.
  expect(made).toBeGreaterThan(9);
  expect(killed).toBe(1);
});
