import { expect, onTestFinished } from "vitest";
import { type ClientOptions, createClient } from "../../../src/kube/client/transport.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { createStore } from "../../../src/kube/watch/store.ts";
import { type Watcher, type WatchOptions, watch } from "../../../src/kube/watch/watch.ts";
import { fakeClock } from "../../fake-clock.ts";
import { eventually, WIDGETS } from "../objects.ts";
import { type Exchange, scriptedServer } from "../scripted-server.ts";

interface Parts {
  authorize?: ClientOptions["authorize"];
  onListenerError?: (error: unknown) => void;
}

/** A server that does what the test says, and what a watch of its widgets needs. Nothing of it outlives the test. */
export async function openStage({ authorize, onListenerError }: Parts = {}) {
  const server = await scriptedServer();
  const clock = fakeClock();
  const client = createClient({ server: server.url, clock, ...(authorize && { authorize }) });
  const store = createStore<KubeObject>({ ...(onListenerError && { onListenerError }) });
  const errors: { error: unknown; ms: number }[] = [];
  let watcher: Watcher | undefined;

  onTestFinished(async () => {
    await watcher?.stop();
    expect(watcher?.state).toEqual({ name: "stopped" });
    await client.close();
    await server[Symbol.asyncDispose]();
    expect(clock.pending, "timers left behind").toBe(0);
  });

  function begin(options: Partial<WatchOptions<KubeObject>> = {}): Watcher {
    watcher = watch({
      client,
      resource: WIDGETS,
      store,
      clock,
      random: () => 1,
      onError: (error, ms = 0) => errors.push({ error, ms }),
      ...options,
    });
    return watcher;
  }

  const untilWaiting = () => eventually(() => watcher?.state.name === "waiting");

  return {
    server,
    clock,
    store,
    errors,
    begin,
    untilWaiting,
    names: () => [...store.values()].map(({ metadata }) => metadata.name).sort(),
    /** Answers a streaming list and leaves the connection open. */
    async stream(objects: KubeObject[], resourceVersion: number): Promise<Exchange> {
      const exchange = await server.next();
      for (const object of objects) await exchange.event("ADDED", object);
      await exchange.event("BOOKMARK", endOfList(resourceVersion));
      await eventually(() => watcher?.state.name === "watching");
      return exchange;
    },
    /** The watch failed, waits, and asks again: before it goes on, whether the server is as far as before. */
    async afterFailure(ms: number, resourceVersion = 1_000_000): Promise<Exchange> {
      await untilWaiting();
      await clock.advance(ms - 1);
      expect(server.unread).toBe(0);
      await clock.advance(1);
      const asked = await server.next();
      if (asked.query.limit !== "1") return asked;
      asked.json(200, { metadata: { resourceVersion: String(resourceVersion) }, items: [] });
      return server.next();
    },
  };
}

export const bookmark = (resourceVersion: number, annotations?: Record<string, string>) => ({
  apiVersion: "example.dev/v1",
  kind: "Widget",
  metadata: { resourceVersion: String(resourceVersion), ...(annotations && { annotations }) },
});

export const endOfList = (resourceVersion: number) =>
  bookmark(resourceVersion, { "k8s.io/initial-events-end": "true" });
