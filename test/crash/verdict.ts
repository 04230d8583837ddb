import { readStatus } from "../../src/engine/status.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import type { Chapter } from "./life.ts";

export const faults = ["duplicate", "leak", "lost secret", "stuck"] as const;
export type Fault = (typeof faults)[number];

/** Something that must not be. */
export interface Problem {
  fault: Fault;
  message: string;
}

/** What of a life without any kill the others are measured by. */
export type Yardstick = ReadonlyMap<string, { counts: Record<string, number>; creations: number }>;

/** The collection on the platform that holds the resources of a kind; undefined where it has none. */
const collectionOf = ({ resource }: Kind): string | undefined => resource?.collection({}).split("/").at(-1);

export function yardstickOf(kind: Kind, chapters: readonly Chapter[]): Yardstick {
  return new Map(chapters.map((chapter) => [chapter.phase, measure(kind, chapter)]));
}

function measure(kind: Kind, { snapshot }: Chapter) {
  const counts = Object.fromEntries(Object.entries(snapshot.resources).map(([name, items]) => [name, items.length]));
  return { counts, creations: snapshot.creations(collectionOf(kind) ?? "") };
}

/**
 * What is wrong at the end of a phase. Absolute for the kind itself: one resource, that of `status.id`, while the object
 * is there, none without it. For everything else, such as volumes and NICs, and for the number of creations that the
 * platform has ever accepted, a life without any kill is the measure.
 */
export function judge(kind: Kind, before: Chapter, chapter: Chapter, undisturbed: Yardstick | undefined): Problem[] {
  const { phase, object, snapshot } = chapter;
  const problems: Problem[] = [];
  const blame = (fault: Fault, message: string) => problems.push({ fault, message: `${phase}: ${message}` });
  const collection = collectionOf(kind);
  if (collection !== undefined) {
    const old = new Set((before.snapshot.resources[collection] ?? []).map(({ id }) => id));
    const own = (snapshot.resources[collection] ?? []).filter(({ id }) => !old.has(id));
    const ids = own.map(({ id }) => id).join(", ");
    const claimed = object && readStatus(object).id;
    const mine = own.find(({ id }) => id === claimed);
    if (!object && own.length > 0) blame("leak", `${collection} ${ids} without an object`);
    if (object && own.length > 1) blame("duplicate", `${own.length} ${collection}: ${ids}`);
    if (object && !mine) {
      const [fault, found] =
        own.length > 0 ? (["leak", `there is ${ids}`] as const) : (["stuck", "nothing is there"] as const);
      blame(fault, `the object claims ${claimed}, but ${found}`);
    }
    for (const [name, wanted] of Object.entries(mine ? chapter.shows : {})) {
      const found = mine?.properties?.[name];
      if (found !== wanted) blame("stuck", `the object is Ready, but ${name} is ${found}, not ${wanted}`);
    }
  }
  const expected = undisturbed?.get(phase);
  if (!expected) return problems;
  const { counts, creations } = measure(kind, chapter);
  for (const [name, count] of Object.entries(counts)) {
    const usual = expected.counts[name] ?? 0;
    if (name !== collection && count > usual) blame("leak", `${count} ${name} instead of ${usual}`);
  }
  if (creations > expected.creations && !problems.some(({ fault }) => fault === "duplicate")) {
    blame("duplicate", `the platform accepted ${creations} creations instead of ${expected.creations}`);
  }
  return problems;
}
