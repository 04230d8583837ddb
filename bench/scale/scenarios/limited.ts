import { measure, tellCost } from "../measure.ts";
import { allOf, populationOf } from "../population.ts";
import { createAll } from "./create.ts";
import type { Scenario } from "./scenario.ts";

const PER_SECOND = 100;

/** Create with a platform that refuses (429) whatever is more than a hundred calls a second. */
export const measureLimited: Scenario = async (stage, note) => {
  const rateLimit = { perSecond: PER_SECOND, burst: PER_SECOND };
  await stage.platform.call("PUT", "/_simulator/faults", { rateLimit });
  const population = populationOf(stage.options.objects);
  const end = await measure(stage);
  await createAll(stage, population, "limited");
  const cost = await end();
  tellCost("limited", cost);
  note("limitedSeconds", cost.seconds);
  note("limitedCalls", cost.calls / allOf(population).length);
};
