import { setTimeout as delay } from "node:timers/promises";
import { measure, tellCost } from "../measure.ts";
import { edit, populationOf } from "../population.ts";
import { untilQuiet } from "../waiting.ts";
import { createAll } from "./create.ts";
import type { Scenario } from "./scenario.ts";

const LASTS_MS = 30_000;
const SHARE = 0.01;
/** After this long even those that Mooring writes once more at rest have been written. */
const REST_MS = 35_000;

/** All Servers in one Datacenter, and one in a hundred is edited again as soon as it is Ready. */
export const measureFlux: Scenario = async (stage, note) => {
  const { client, witness } = stage;
  const population = populationOf(stage.options.objects, 1);
  await createAll(stage, population, "flux");
  await delay(REST_MS);
  await untilQuiet(stage.operator.pid);
  const changing = population.servers.slice(0, Math.max(1, Math.round(SHARE * population.servers.length)));
  const end = await measure(stage);
  const until = performance.now() + LASTS_MS;
  let edits = 0;
  const again = async (server: (typeof changing)[number]) => {
    for (let ram = 4096; performance.now() < until; ram = ram === 4096 ? 2048 : 4096) {
      await edit(client, [server], { ram });
      edits += 1;
      // The watch shows an edit a moment after it was made.
      await delay(50);
      while (!witness.isReady(server) && performance.now() < until + LASTS_MS) await delay(20);
    }
  };
  await Promise.all(changing.map(again));
  const cost = await end();
  tellCost("flux", cost);
  note("fluxCalls", cost.calls / edits);
  note("fluxCpu", (1000 * cost.cpu) / edits);
  note("fluxEdits", edits / cost.seconds);
};
