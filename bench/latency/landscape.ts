import { applyObject } from "../../src/cli/demo/install.ts";
import { pathTo } from "../../test/cluster/reads.ts";
import { type Sample, samples } from "../../test/cluster/samples.ts";
import { untilSure } from "../scale/waiting.ts";
import type { Seen } from "./critical-path.ts";
import { nameOf, openObserver } from "./observer.ts";
import type { Stage } from "./stage.ts";
import { readTimeline } from "./timeline.ts";

/** One life of the sample landscape, from apply until all objects are Ready. */
export interface Run {
  readonly objects: Seen[];
  readonly seconds: number;
  readonly calls: number;
  readonly byRoute: Record<string, number>;
}

/** Applies the sample landscape this often, and deletes it in between. The Account stays, and is Ready before. */
export async function measureLandscape(stage: Stage, times: number): Promise<Run[]> {
  const { client, platform, namespace } = stage;
  const all = await samples("landscape.yaml", platform);
  const isBefore = ({ kind, metadata }: Sample) => kind === "Account" || metadata.name === "platform-token";
  const placed = (sample: Sample) => ({ ...sample, metadata: { ...sample.metadata, namespace } });
  await using observer = await openObserver(client, namespace, new Set(all.map(({ kind }) => kind)));
  for (const sample of all.filter(isBefore)) await applyObject(client, placed(sample));
  await untilSure(() => (observer.readyAt("Account/main") === undefined ? "Account" : undefined), {
    title: "the Account",
    seconds: 60,
  });
  const landscape = all.filter((sample) => !isBefore(sample));
  const objects = landscape.filter(({ kind }) => kind !== "Secret");
  const runs: Run[] = [];
  for (let time = 1; time <= times; time++) {
    await stage.untilIdle();
    await platform.resetCalls();
    const began = Date.now();
    await Promise.all(landscape.map((sample) => applyObject(client, placed(sample))));
    const missing = () => objects.map(nameOf).filter((name) => observer.readyAt(name) === undefined);
    const seconds = 600;
    await untilSure(() => missing().join(", ") || undefined, { title: `landscape ${time}`, seconds, stepMs: 20 });
    const { total, byRoute } = await platform.calls();
    const work = await readTimeline(platform, stage.speed, began - 1000);
    const seen = objects.map((sample): Seen => {
      const readyAt = observer.readyAt(nameOf(sample)) ?? Number.NaN;
      const id = observer.id(nameOf(sample));
      const own = work.flatMap(({ resource, begin, end = Number.POSITIVE_INFINITY }) =>
        resource === id && end <= readyAt ? [{ begin, end }] : [],
      );
      return { name: nameOf(sample), after: referencesIn(sample.spec), work: own, readyAt };
    });
    const last = Math.max(...seen.map(({ readyAt }) => readyAt));
    runs.push({ objects: seen, seconds: (last - began) / 1000, calls: total, byRoute });
    for (const sample of landscape) {
      await client.request({ method: "DELETE", path: pathTo(nameOf(sample), namespace) });
    }
    const left = () => objects.map(nameOf).filter((name) => observer.has(name));
    await untilSure(() => left().join(", ") || undefined, { title: `deletion ${time}`, seconds });
  }
  return runs;
}

/** The objects that a spec refers to: `lanRef: {name: back}` is `Lan/back`. */
export function referencesIn(spec: unknown): string[] {
  if (typeof spec !== "object" || spec === null) return [];
  return Object.entries(spec).flatMap(([field, value]: [string, unknown]) => {
    const kind = kindsByField.get(field);
    const name: unknown = kind === undefined ? undefined : Reflect.get(Object(value), "name");
    return typeof name === "string" ? [`${kind}/${name}`] : referencesIn(value);
  });
}

const kindsByField = new Map([
  ["datacenterRef", "Datacenter"],
  ["lanRef", "Lan"],
  ["ipBlockRef", "IPBlock"],
  ["serverRef", "Server"],
  ["volumeRef", "Volume"],
  ["snapshotRef", "Snapshot"],
]);
