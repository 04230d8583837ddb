import { measure, tellCost } from "../measure.ts";
import { allOf, edit } from "../population.ts";
import { untilSure } from "../waiting.ts";
import type { Chapter } from "./scenario.ts";

/** An edit of every Server, until each is Ready in its new generation. */
export const measureEdits: Chapter = async (stage, population, note) => {
  const { client, witness } = stage;
  const { servers } = population;
  const count = allOf(population).length;
  const end = await measure(stage);
  await edit(client, servers, { ram: 4096 });
  await untilSure(() => (witness.ready >= count ? undefined : `${count - witness.ready} of ${count} not Ready`), {
    title: "edits",
    seconds: 120 + count,
  });
  const cost = await end();
  tellCost("edits", cost);
  note("editSeconds", cost.seconds);
  note("editCpu", cost.cpu);
  note("editCalls", cost.calls / servers.length);
  // The edits themselves are patches, too.
  note("editWrites", cost.writes / servers.length - 1);
};
