import type { FigureName } from "../figures.ts";
import type { Population } from "../population.ts";
import type { Stage } from "../stage.ts";

/** Where a scenario writes what it has measured. */
export type Note = (figure: FigureName, value: number) => void;

/** A scenario on a stage of its own. */
export type Scenario = (stage: Stage, note: Note) => Promise<void>;

/** A scenario on objects that others have made. */
export type Chapter = (stage: Stage, population: Population, note: Note) => Promise<void>;
