import { resourceOf } from "../../src/engine/state/object.ts";
import { readStatus, readyOf } from "../../src/engine/status/status.ts";
import { kinds } from "../../src/kinds/index.ts";
import type { KubeClient } from "../../src/kube/client/transport.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { createStore } from "../../src/kube/watch/store.ts";
import { watch } from "../../src/kube/watch/watch.ts";
import { systemClock } from "../../src/runtime/clock.ts";

/** When each object of a namespace was Ready in its current generation, by kind and name: `Server/web`. */
export interface Observer extends AsyncDisposable {
  readyAt(name: string): number | undefined;
  id(name: string): string | undefined;
  has(name: string): boolean;
}

export const nameOf = ({ kind, metadata }: { kind: string; metadata: { name: string } }): string =>
  `${kind}/${metadata.name}`;

const isReady = (object: KubeObject): boolean =>
  readyOf(object)?.status === "True" && readStatus(object).observedGeneration === object.metadata.generation;

/** Observes these kinds through watches. */
export async function openObserver(
  client: KubeClient,
  namespace: string,
  wanted: ReadonlySet<string>,
): Promise<Observer> {
  const known = new Map<string, { id: string | undefined; readyAt: number | undefined }>();
  const watchers = kinds
    .filter(({ kind }) => wanted.has(kind))
    .map((kind) => {
      const store = createStore<KubeObject>();
      store.subscribe(({ before, after }) => {
        const object = after ?? before;
        if (!object) return;
        if (!after) return void known.delete(nameOf(object));
        const readyAt = isReady(after) ? (known.get(nameOf(after))?.readyAt ?? Date.now()) : undefined;
        known.set(nameOf(after), { id: readStatus(after).id, readyAt });
      });
      return watch({ client, resource: resourceOf(kind), namespace, store, clock: systemClock });
    });
  await Promise.all(watchers.map(({ synced }) => synced));
  return {
    readyAt: (name) => known.get(name)?.readyAt,
    id: (name) => known.get(name)?.id,
    has: (name) => known.has(name),
    async [Symbol.asyncDispose]() {
      await Promise.all(watchers.map((each) => each.stop()));
    },
  };
}
