import { setTimeout as delay } from "node:timers/promises";
import { measure, tellCost } from "../measure.ts";
import { allOf, create, type Population } from "../population.ts";
import type { Stage } from "../stage.ts";
import { untilQuiet, untilSure } from "../waiting.ts";
import type { Chapter } from "./scenario.ts";

const IDLE_MS = 5000;
/** Mooring notes the id of a resource once more when it has rested for thirty seconds. */
const REST_MS = 40_000;

/** Apply to all Ready, and what stays of it in memory. */
export const measureCreate: Chapter = async (stage, population, note) => {
  await delay(IDLE_MS);
  note("idleResident", stage.operator.resident());
  const end = await measure(stage);
  await createAll(stage, population);
  const cost = await end();
  const count = allOf(population).length;
  tellCost("create", cost);
  note("createSeconds", cost.seconds);
  note("createCpu", cost.cpu);
  note("createCalls", cost.calls / count);
  note("createWrites", cost.writes / count);
  note("createPasses", cost.passes / count);
  note("createEvents", cost.events / count);
  note("createApiserver", cost.shares.apiserver);
  note("createSimulator", cost.shares.simulator);
  note("createOthers", cost.shares.others / cost.seconds);
};

/** All of them, until the last one is Ready. */
export async function createAll({ client, witness }: Stage, population: Population, title = "create"): Promise<void> {
  const objects = allOf(population);
  const others = witness.ready;
  await create(client, objects);
  await untilSure(
    () =>
      witness.ready - others >= objects.length ? undefined : `${witness.ready - others} of ${objects.length} Ready`,
    { title, seconds: 120 + objects.length },
  );
}

/** Waits until nothing is left to do, and tells what is in memory then. */
export const measureRest: Chapter = async (stage, _, note) => {
  await delay(REST_MS);
  await untilQuiet(stage.operator.pid);
  note("restResident", stage.operator.resident());
};
