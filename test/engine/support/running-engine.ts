import { z } from "zod";
import { createManager } from "../../../src/controllers/manager.ts";
import type { ManagerOptions } from "../../../src/controllers/manager-options.ts";
import { kinds } from "../../../src/kinds/index.ts";
import type { KubeCall, KubeClient } from "../../../src/kube/client/transport.ts";
import type { Lane } from "../../../src/kube/queue/lanes.ts";
import { createQueue } from "../../../src/kube/queue/queue.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import type { Connection } from "../../../src/platform/calls/transport.ts";
import type { Clock } from "../../../src/runtime/clock.ts";
import { type FakeApiServer, fakeApiServer } from "./fake-api-server.ts";
import { API, type FakePlatform, fakePlatform } from "./fake-platform.ts";
import { objectOf } from "./fixtures.ts";
import { SETTINGS } from "./stage.ts";
import { unsealed } from "./unsigned.ts";

export const credentials: KubeObject = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "cred", namespace: "shop", uid: "uid-cred", resourceVersion: "1" },
  data: { token: Buffer.from("token").toString("base64") },
};

export const accountOf = (name: string, endpoints: object = {}, more: Partial<KubeObject["metadata"]> = {}) =>
  objectOf("Account", name, {
    spec: { endpoints: { api: API, ...endpoints }, credentialsSecretRef: { name: "cred" } },
    metadata: { name, ...more },
  });

/** A whole engine at work on an API server and a platform of a few lines; watches bring what is put there. */
export async function runEngine(
  initial: readonly KubeObject[],
  options: Partial<ManagerOptions> & {
    clock: Clock;
    workers?: number;
    platform?: FakePlatform;
    api?: FakeApiServer;
    connect?: Connect;
    /** All watches of the API server show the writes of this engine. */
    shows?: boolean;
    /** Called when everything around the engine is there, right before it begins. */
    begin?: () => void;
  },
) {
  const {
    clock,
    workers = 4,
    platform = fakePlatform(),
    connect = platform.connectionOf,
    begin,
    shows,
    ...rest
  } = options;
  const { api = fakeApiServer(...initial) } = options;
  if (clock) platform.setClock(clock.now);
  const isShown = ({ path, query }: KubeCall, object: KubeObject) =>
    path.endsWith(`/${object.kind.toLowerCase()}s`) &&
    (!path.includes("/namespaces/") || path.includes(`/namespaces/${object.metadata.namespace}/`)) &&
    isSelected(object, query?.labelSelector) &&
    (query?.fieldSelector ?? `metadata.name=${object.metadata.name}`) === `metadata.name=${object.metadata.name}`;
  const present = new Map<string, Map<string | undefined, KubeObject>>();
  const presentAt = (plural: string) => {
    const found = present.get(plural) ?? new Map<string | undefined, KubeObject>();
    present.set(plural, found);
    return found;
  };
  const likeOf = ({ kind }: KubeObject) => presentAt(`${kind.toLowerCase()}s`);
  for (const object of initial) likeOf(object).set(object.metadata.uid, object);
  const client: KubeClient = {
    ...api.client,
    async request<T>(call: KubeCall): Promise<T> {
      const answer = await api.client.request<T>(call);
      const written: KubeObject | undefined =
        call.method === "GET" || !shows ? undefined : kubeObject.safeParse(answer).data;
      if (written) tell(api.get(written) ? "MODIFIED" : "DELETED", written);
      return answer;
    },
    async stream(call) {
      const news = await api.client.stream(call);
      return (async function* () {
        const line = (type: string, object: unknown) => Buffer.from(`${JSON.stringify({ type, object })}\n`);
        if (call.query?.sendInitialEvents) {
          const plural = call.path.slice(call.path.lastIndexOf("/") + 1);
          for (const object of presentAt(plural).values())
            if (isShown(call, object)) yield line("ADDED", api.get(object));
          // No newer than what may be written next.
          const metadata = { resourceVersion: "1000", annotations: { "k8s.io/initial-events-end": "true" } };
          yield line("BOOKMARK", { metadata });
        }
        yield* news;
      })();
    },
  };
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const laneOf = (key: string): Lane => engine.laneOf(key);
  const queue = options.queue ?? createQueue({ clock, random: () => 1, workers, laneOf });
  const engine = createManager({
    kinds,
    clock,
    log,
    client,
    transport: { connect: (id) => connect(id), close: async () => {} },
    events: { record: () => {}, flush: async () => {}, close: async () => {} },
    queue,
    seal: unsealed,
    settings: SETTINGS,
    busyMs: 1500,
    guard: () => {},
    self: { pod: "mooring-0", process: "first" },
    ...rest,
  });
  begin?.();
  await engine.sync();
  const ending = new AbortController();
  const working = engine.run(workers, ending.signal);
  const tell = (type: string, object: KubeObject, before = object) => {
    for (const { call, send } of api.streams) {
      if (call.signal?.aborted) continue;
      if (isShown(call, object)) send(type, object);
      else if (isShown(call, before)) send("DELETED", object);
    }
  };
  return {
    api,
    platform,
    queue,
    engine,
    /** Somebody creates or changes an object. */
    put(object: KubeObject) {
      likeOf(object).set(object.metadata.uid, object);
      const before = api.get(object);
      tell("MODIFIED", api.put(object), before);
    },
    /** Somebody removes an object, finalizers or not. */
    remove(object: KubeObject) {
      likeOf(object).delete(object.metadata.uid);
      const last = api.get(object) ?? object;
      api.remove(object);
      tell("DELETED", { ...last, metadata: { ...last.metadata, resourceVersion: api.version } });
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      queue.shutdown();
      await working;
      await engine.close();
    },
  };
}
const isSelected = ({ metadata }: KubeObject, selector = "") => {
  const [label = "", value] = selector.split("=");
  return metadata.labels?.[label] === value;
};
const kubeObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});
type Connect = (id: string) => Connection;
