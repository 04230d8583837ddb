import { z } from "zod";
import type { KubeClient } from "../../src/kube/client/transport.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { createStore } from "../../src/kube/watch/store.ts";
import { watch } from "../../src/kube/watch/watch.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { resources } from "./population.ts";

const shown = z.object({
  observedGeneration: z.number().optional(),
  id: z.string().optional(),
  conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]),
});

/** What is kept of an object, so that a witness of ten thousand stays small. */
interface Observed extends KubeObject {
  status: { isReady: boolean; id: string | undefined };
}

/** Sees all objects of a namespace through one watch per kind, which costs the API server next to nothing. */
export interface Witness extends AsyncDisposable {
  readonly count: number;
  /** Those that are Ready in the generation that they have. */
  readonly ready: number;
  /** Ids on the platform, by kind and name. */
  ids(): Map<string, string | undefined>;
  isReady(object: KubeObject): boolean;
}

function reduced(object: KubeObject): Observed {
  const { observedGeneration, id, conditions } = shown.parse(object.status ?? {});
  const { name, namespace, uid, resourceVersion, generation } = object.metadata;
  const isTrue = conditions.some(({ type, status }) => type === "Ready" && status === "True");
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    status: { isReady: isTrue && observedGeneration === generation, id },
  };
}

export async function openWitness(client: KubeClient, namespace: string): Promise<Witness> {
  let ready = 0;
  const kinds = Object.values(resources).map((resource) => {
    const store = createStore<KubeObject>({ keep: reduced });
    store.subscribe(({ before, after }) => {
      ready += Number(readyIn(after)) - Number(readyIn(before));
    });
    return { resource, store, watcher: watch({ client, resource, namespace, store, clock: systemClock }) };
  });
  await Promise.all(kinds.map(({ watcher }) => watcher.synced));
  const every = () => kinds.flatMap(({ store }) => [...store.values()]);
  const storeOf = ({ kind }: KubeObject) => kinds.find(({ resource }) => resource.kind === kind)?.store;
  return {
    get count() {
      return kinds.reduce((sum, { store }) => sum + store.size, 0);
    },
    get ready() {
      return ready;
    },
    ids: () => new Map(every().map((each) => [`${each.kind}/${each.metadata.name}`, idIn(each)])),
    isReady: (object) => readyIn(storeOf(object)?.get(`${object.metadata.namespace}/${object.metadata.name}`)),
    async [Symbol.asyncDispose]() {
      await Promise.all(kinds.map(({ watcher }) => watcher.stop()));
    },
  };
}

const kept = z.object({ isReady: z.boolean(), id: z.string().optional() });
const readyIn = (object: KubeObject | undefined): boolean => object !== undefined && kept.parse(object.status).isReady;
const idIn = (object: KubeObject): string | undefined => kept.parse(object.status).id;
