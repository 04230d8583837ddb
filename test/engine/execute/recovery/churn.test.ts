import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test, vi } from "vitest";
import { fakeClock } from "../../../fake-clock.ts";
import { objectOf } from "../../support/fixtures.ts";
import { accountOf, credentials, runEngine } from "../../support/running-engine.ts";

/** Every Map and Set that a file of src/ creates, with the place of its creation. */
const made = vi.hoisted(() => {
  const all: { ref: WeakRef<{ size: number }>; site: string }[] = [];
  const note = (collection: { size: number }) => {
    const site = /\/src\/(?!simulator)[^)\s]+?:\d+/.exec(new Error().stack?.split("\n")[3] ?? "")?.[0];
    if (site) all.push({ ref: new WeakRef(collection), site });
  };
  class NotedMap<K, V> extends Map<K, V> {
    constructor(entries?: Iterable<readonly [K, V]> | null) {
      super(entries);
      note(this);
    }
  }
  class NotedSet<V> extends Set<V> {
    constructor(values?: Iterable<V> | null) {
      super(values);
      note(this);
    }
  }
  globalThis.Map = NotedMap;
  globalThis.Set = NotedSet;
  return all;
});

/** These have a limit of their own: ids that match no creation any more, and recently parsed or signed values. */
const BOUNDED = [
  ...[
    "/src/engine/state/indexes/released-ids.ts",
    "/src/runtime/lazy-json.ts",
    "/src/runtime/lru.ts",
    "/src/runtime/signer.ts",
  ],
  "/src/platform/collections/usual-durations.ts",
];

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** The number of entries, by the place where their Map or Set was created. */
async function entries(): Promise<Map<string, number>> {
  // Objects released in a turn are collected after it.
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  const sizes = new Map<string, number>();
  for (const { ref, site } of made) sizes.set(site, (sizes.get(site) ?? 0) + (ref.deref()?.size ?? 0));
  return sizes;
}

const GENERATIONS = 8;
const OBJECTS = 12;
const deletionTimestamp = "2026-01-01T00:00:00Z";

test("nothing grows with objects and Accounts that come and go", { timeout: 300_000 }, async () => {
  const clock = fakeClock();
  await using engine = await runEngine([credentials], { clock, workers: 8 });
  const { api, put } = engine;
  const until = async (isDone: () => boolean) => {
    for (let seconds = 0; seconds < 600 && !isDone(); seconds++) await clock.advance(1000);
    expect(isDone()).toBe(true);
  };
  const idOf = (object: ReturnType<typeof objectOf>) => Reflect.get(Object(api.get(object)?.status), "id");
  const leave = (object: ReturnType<typeof objectOf>) => {
    const now = api.get(object);
    if (now) put({ ...now, metadata: { ...now.metadata, deletionTimestamp } });
  };
  const sizes: Map<string, number>[] = [];
  for (let generation = 0; generation < GENERATIONS; generation++) {
    const account = accountOf(`account-${generation}`);
    const objects = Array.from({ length: OBJECTS }, (_, index) =>
      objectOf("IPBlock", `b-${generation}-${index}`, {
        spec: { location: "de/txl", size: 1, accountRef: { name: account.metadata.name } },
      }),
    );
    for (const object of [account, ...objects]) put(object);
    await until(() => objects.every((object) => idOf(object) !== undefined));
    await clock.advance(60_000);
    for (const object of objects) leave(object);
    await until(() => objects.every((object) => api.get(object) === undefined));
    leave(account);
    await until(() => api.get(account) === undefined);
    // All scheduled reconciles have run.
    await clock.advance(1_800_000);
    sizes.push(await entries());
  }
  const [early, late] = [sizes[2], sizes.at(-1)];
  const grown = [...(late ?? [])].flatMap(([site, size]) => {
    const before = early?.get(site) ?? 0;
    return size > before && !BOUNDED.some((file) => site.startsWith(file)) ? [`${site}: ${before} → ${size}`] : [];
  });
  expect(grown).toEqual([]);
  expect([...(late ?? [])].length).toBeGreaterThan(50);
});
