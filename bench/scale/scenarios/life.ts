import type { Options, ScenarioName } from "../options.ts";
import { populationOf } from "../population.ts";
import { measureCommands } from "./commands.ts";
import { measureCreate, measureRest } from "./create.ts";
import { measureDelete } from "./delete.ts";
import { measureEdits } from "./edits.ts";
import { measureLeader } from "./leader.ts";
import { measureRestart } from "./restart.ts";
import { measureResync } from "./resync.ts";
import type { Chapter, Scenario } from "./scenario.ts";

/** What is done to the same objects, in this order. */
const chapters: readonly { name: ScenarioName; chapter: Chapter }[] = [
  { name: "commands", chapter: measureCommands },
  { name: "resync", chapter: measureResync },
  { name: "restart", chapter: measureRestart },
  { name: "edits", chapter: measureEdits },
  { name: "leader", chapter: measureLeader },
  { name: "delete", chapter: measureDelete },
];

export const isPartOfLife = (name: ScenarioName): boolean =>
  name === "create" || chapters.some((chapter) => chapter.name === name);

/** The life of one population: whichever of its chapters are asked for, it has to be created first. */
export const life =
  ({ scenarios, objects }: Options): Scenario =>
  async (stage, note) => {
    const population = populationOf(objects);
    await measureCreate(stage, population, note);
    await measureRest(stage, population, note);
    for (const { name, chapter } of chapters) if (scenarios.has(name)) await chapter(stage, population, note);
  };
