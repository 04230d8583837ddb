import type { PlatformError } from "../../../src/platform/answers/errors.ts";
import type { CollectionSource, Item, RequestState } from "../../../src/platform/collections/collection.ts";

export const item = (id: string, state = "AVAILABLE", more: object = {}): Item => ({
  id,
  state,
  raw: { id, metadata: { state }, properties: more },
});

export const items = (count: number, state = "AVAILABLE"): Item[] =>
  Array.from({ length: count }, (_, n) => item(`m${n}`, state));

/** A platform collection in memory that counts its calls. */
export interface ScriptedSource extends CollectionSource {
  readonly there: Map<string, Item>;
  readonly requests: Map<string, RequestState>;
  readonly calls: { list: number; get: number; request: number; deletions: number };
  readonly priorities: string[];
  /** The error of the next lists, until it is cleared. */
  failing: PlatformError | undefined;
  /** The error of the next status requests. */
  failingRequests: PlatformError | undefined;
  /** Existing ids that lists leave out. */
  readonly hidden: Set<string>;
  /** Delays lists: they return the state from their start. */
  hold(): { release(): void };
  put(...items: Item[]): void;
}

export function scriptedSource(start: readonly Item[] = []): ScriptedSource {
  const there = new Map(start.map((each) => [each.id, each]));
  const requests = new Map<string, RequestState>();
  const calls = { list: 0, get: 0, request: 0, deletions: 0 };
  let held: Promise<void> | undefined;
  const source: ScriptedSource = {
    key: "scripted",
    there,
    requests,
    calls,
    priorities: [],
    failing: undefined,
    failingRequests: undefined,
    hidden: new Set(),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return {
        release() {
          held = undefined;
          resolve();
        },
      };
    },
    put(...more) {
      for (const each of more) there.set(each.id, each);
    },
    async list(signal, priority) {
      calls.list += 1;
      source.priorities.push(priority);
      const answer = [...there.values()].filter(({ id }) => !source.hidden.has(id));
      const failure = source.failing;
      await held;
      signal.throwIfAborted();
      if (failure) throw failure;
      return answer;
    },
    async get(id) {
      calls.get += 1;
      return there.get(id);
    },
    async requestStatus(url) {
      calls.request += 1;
      if (source.failingRequests) throw source.failingRequests;
      return requests.get(url) ?? { status: "BUSY", targets: [] };
    },
    async deletions() {
      calls.deletions += 1;
      if (source.failingRequests) throw source.failingRequests;
      return new Map([...requests].map(([url, state]) => [/\/requests\/([^/]+)/.exec(url)?.[1] ?? "", state]));
    },
    isBusy: ({ state }) => state === "BUSY",
  };
  return source;
}
