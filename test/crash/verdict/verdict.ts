import { isDeepStrictEqual } from "node:util";
import { readStatus } from "../../../src/engine/status/status.ts";
import type { Kind } from "../../../src/kinds/kind.ts";
import type { Chapter } from "../lives/life.ts";

export const faults = ["duplicate", "leak", "lost secret", "stuck"] as const;
export type Fault = (typeof faults)[number];

/** A problem. */
export interface Problem {
  fault: Fault;
  message: string;
}

/** The counts of a life without a kill, for comparison. */
export type Yardstick = ReadonlyMap<string, { counts: Record<string, number>; accepted: Record<string, number> }>;

/** Collections of several products with the same name; the platform's state distinguishes them. */
const shownAs: Record<string, string> = {
  "monitoring/pipelines": "metricPipelines",
  "logging/pipelines": "logPipelines",
  "logging/central": "centrals",
  "streaming/clusters": "streamingClusters",
  "streaming/topics": "streamingTopics",
};

/** The collection of a kind on the platform; undefined if it has none of its own. */
export function collectionOf({ resource }: Kind): string | undefined {
  if (resource?.identity.shared) return undefined;
  const name = resource?.place.collection({}).split("/").at(-1);
  return shownAs[`${resource?.place.product}/${name}`] ?? name;
}

export function yardstickOf(chapters: readonly Chapter[]): Yardstick {
  return new Map(chapters.map((chapter) => [chapter.phase, measure(chapter)]));
}

function measure({ snapshot }: Chapter) {
  const counts = Object.fromEntries(Object.entries(snapshot.resources).map(([name, items]) => [name, items.length]));
  return { counts, accepted: snapshot.accepted };
}

const text = (value: unknown) => (typeof value === "object" ? JSON.stringify(value) : String(value));

/**
 * The problems at the end of a phase. For the kind itself: exactly one resource, the one in `status.id`, while the
 * object exists, none without it, and every promised Secret. A permanent resource must be as before. For everything
 * else, such as volumes and NICs, and for the number of creations, a life without a kill is the reference.
 */
export function judge(kind: Kind, before: Chapter, chapter: Chapter, undisturbed: Yardstick | undefined): Problem[] {
  const { phase, object, snapshot } = chapter;
  const problems: Problem[] = [];
  const blame = (fault: Fault, message: string) => problems.push({ fault, message: `${phase}: ${message}` });
  for (const why of chapter.lost) blame("lost secret", why);
  const collection = collectionOf(kind);
  if (collection !== undefined) {
    const old = new Set((before.snapshot.resources[collection] ?? []).map(({ id }) => id));
    const { id: claimed, previous } = object ? readStatus(object) : {};
    // The previous token is valid for a while, and status says until when.
    const own = (snapshot.resources[collection] ?? []).filter(({ id }) => !old.has(id) && id !== previous?.id);
    const ids = own.map(({ id }) => id).join(", ");
    const permanent = kind.resource?.identity.permanent ?? false;
    const mine = own.find(({ id }) => id === claimed || permanent);
    if (!object && own.length > 0 && !permanent) blame("leak", `${collection} ${ids} without an object`);
    if (object && own.length > 1) blame("duplicate", `${own.length} ${collection}: ${ids}`);
    if (object && !mine) {
      const [fault, found] =
        own.length > 0 ? (["leak", `there is ${ids}`] as const) : (["stuck", "nothing is there"] as const);
      blame(fault, `the object claims ${claimed}, but ${found}`);
    }
    for (const [name, wanted] of Object.entries(mine ? chapter.shows : {})) {
      const found = mine?.properties?.[name];
      const whose = object ? "the object is Ready" : "the object is gone";
      if (isDeepStrictEqual(found, wanted)) continue;
      blame("stuck", `${whose}, but ${name} is ${text(found)}, not ${text(wanted)}`);
    }
  }
  const expected = undisturbed?.get(phase);
  if (!expected) return problems;
  const { counts, accepted } = measure(chapter);
  for (const [name, count] of Object.entries(counts)) {
    const usual = expected.counts[name] ?? 0;
    if (name !== collection && count > usual) blame("leak", `${count} ${name} instead of ${usual}`);
  }
  for (const [route, count] of Object.entries(accepted)) {
    const usual = expected.accepted[route] ?? 0;
    if (count > usual) blame("duplicate", `the platform accepted POST ${route} ${count} times instead of ${usual}`);
  }
  return problems;
}
