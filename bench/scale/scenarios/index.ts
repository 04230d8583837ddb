import { type ContenderName, contenderNames, type Options, type ScenarioName } from "../options.ts";
import { measureChurn } from "./churn.ts";
import { measureFloor } from "./floor.ts";
import { measureFlux } from "./flux.ts";
import { measureKill } from "./kill.ts";
import { isPartOfLife, life } from "./life.ts";
import { measureLimited } from "./limited.ts";
import { measureNoisy } from "./noisy.ts";
import type { Scenario } from "./scenario.ts";

/** Something that is played on a stage of its own, and by whom. */
export interface Play {
  title: string;
  play: Scenario;
  contenders: readonly ContenderName[];
}

/** Scenarios with a stage of their own. The peer knows no Accounts, and a floor has no operator. */
const apart: readonly (Omit<Play, "title"> & { title: ScenarioName })[] = [
  { title: "kill", play: measureKill, contenders: contenderNames },
  { title: "flux", play: measureFlux, contenders: contenderNames },
  { title: "limited", play: measureLimited, contenders: contenderNames },
  { title: "noisy", play: measureNoisy, contenders: ["mooring"] },
  { title: "floor", play: measureFloor, contenders: ["mooring"] },
  { title: "churn", play: measureChurn, contenders: ["mooring"] },
];

export function playsOf(options: Options): Play[] {
  const lives = [...options.scenarios].filter(isPartOfLife);
  const one = { title: lives.join(", "), play: life(options), contenders: contenderNames };
  return [...(lives.length > 0 ? [one] : []), ...apart.filter(({ title }) => options.scenarios.has(title))];
}
