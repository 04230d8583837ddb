import { measure, tellCost } from "../measure.ts";
import { allOf, remove } from "../population.ts";
import { untilSure } from "../waiting.ts";
import type { Chapter } from "./scenario.ts";

export const measureDelete: Chapter = async (stage, population, note) => {
  const { client, witness } = stage;
  const objects = allOf(population);
  const count = objects.length;
  const end = await measure(stage);
  await remove(client, objects);
  await untilSure(() => (witness.count === 0 ? undefined : `${witness.count} of ${count} left`), {
    title: "delete",
    seconds: 120 + count,
  });
  const cost = await end();
  tellCost("delete", cost);
  note("deleteSeconds", cost.seconds);
  note("deleteCpu", cost.cpu);
  note("deleteApiserver", cost.shares.apiserver);
  note("deleteCalls", cost.calls / count);
  note("deleteWrites", cost.writes / count);
  note("deletePasses", cost.passes / count);
};
