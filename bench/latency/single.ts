import { setTimeout as delay } from "node:timers/promises";
import { create, datacenter, edit, remove } from "../scale/population.ts";
import { untilSure } from "../scale/waiting.ts";
import { nameOf, openObserver } from "./observer.ts";
import type { Stage } from "./stage.ts";
import { readTimeline } from "./timeline.ts";

/** Milliseconds from a person's request to the operator's write on the platform. */
export interface Reactions {
  readonly applied: number[];
  readonly edited: number[];
  /** What the API server took for the requests themselves. */
  readonly requests: number[];
}

/** Between two objects, so that the operator is idle when the next one comes. */
const PAUSE_MS = 400;

/** Applies one Datacenter after the other, and edits them in the same way. */
export async function measureReactions(stage: Stage, count: number): Promise<Reactions> {
  const { client, platform, namespace, speed } = stage;
  const objects = Array.from({ length: count }, (_, index) => datacenter(`single-${index}`, namespace));
  await using observer = await openObserver(client, namespace, new Set(["Datacenter"]));
  const untilReady = () =>
    untilSure(() => objects.map(nameOf).find((name) => observer.readyAt(name) === undefined), {
      title: "Datacenters",
      seconds: 120,
    });
  const requests: number[] = [];
  const times = async (act: (object: (typeof objects)[number]) => Promise<void>) => {
    const sent: number[] = [];
    for (const object of objects) {
      sent.push(Date.now());
      await act(object);
      requests.push(Date.now() - (sent.at(-1) ?? 0));
      await delay(PAUSE_MS);
    }
    return sent;
  };
  const began = Date.now();
  const applied = await times((object) => create(client, [object]));
  await untilReady();
  await stage.untilIdle();
  const edited = await times((object) => edit(client, [object], { description: "edited" }));
  await untilReady();
  const work = await readTimeline(platform, speed, began);
  const reaction = (method: string, sent: readonly number[]) =>
    objects.map((object, index) => {
      const id = observer.id(nameOf(object));
      const found = work.find((each) => each.resource === id && each.method === method);
      return (found?.begin ?? Number.POSITIVE_INFINITY) - (sent[index] ?? 0);
    });
  const reactions = { applied: reaction("POST", applied), edited: reaction("PATCH", edited), requests };
  await remove(client, objects);
  await untilSure(() => objects.map(nameOf).find((name) => observer.has(name)), { title: "deletion", seconds: 120 });
  return reactions;
}
