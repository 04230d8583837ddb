import { expect, test } from "vitest";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { type Change, createStore } from "../../../src/kube/watch/store.ts";
import { widget } from "../objects.ts";

function setUp() {
  const store = createStore();
  const changes: string[] = [];
  const version = (object: KubeObject | undefined) => object?.metadata.resourceVersion ?? "-";
  store.subscribe(({ key, before, after }: Change<KubeObject>) => {
    changes.push(`${key} ${version(before)}→${version(after)}`);
  });
  return { store, changes };
}

test("an older version never replaces a newer one, and the same one is no change", () => {
  const { store, changes } = setUp();
  store.put(widget("a", 10));
  store.put(widget("a", 9));
  store.put(widget("a", 10));
  store.put(widget("a", 11));
  expect(changes).toEqual(["test/a -→10", "test/a 10→11"]);
});

test("versions are integers of any length", () => {
  const { store } = setUp();
  store.put(widget("a", "99999999999999999998"));
  store.put(widget("a", "100000000000000000000"));
  store.put(widget("a", "99999999999999999999"));
  expect(store.get("test/a")?.metadata.resourceVersion).toBe("100000000000000000000");
});

test("the answer to an own write that arrives after the deletion does not bring the object back", () => {
  const { store, changes } = setUp();
  store.put(widget("a", 10));
  store.remove(widget("a", 12));
  store.put(widget("a", 11));
  expect(changes).toEqual(["test/a -→10", "test/a 10→-"]);
  store.put(widget("a", 13));
  expect(store.size).toBe(1);
});

test("how an object went is told where the watch has shown it, and not where it is only missing in a list", () => {
  const { store } = setUp();
  const lasts: unknown[] = [];
  store.subscribe(({ after, last }) => {
    if (!after) lasts.push(last);
  });
  store.put(widget("a", 10));
  store.put(widget("b", 11));
  const last = { ...widget("a", 12), spec: { changed: "just before" } };
  store.remove(last);
  store.replaceAll([], "20");
  expect(lasts).toEqual([last, undefined]);
});

test("a late deletion does not remove the object that was created again", () => {
  const { store } = setUp();
  store.put(widget("a", 10));
  store.put(widget("a", 15));
  store.remove(widget("a", 12));
  expect(store.size).toBe(1);
});

test("a full list removes what is not in it, but no own write that is newer than the list", () => {
  const { store, changes } = setUp();
  for (const [name, version] of [
    ["same", 1],
    ["gone", 2],
    ["changed", 3],
    ["written", 30],
    ["created", 31],
  ] as const) {
    store.put(widget(name, version));
  }
  changes.length = 0;
  store.replaceAll([widget("same", 1), widget("changed", 9), widget("written", 8)], "20");
  expect(changes).toEqual(["test/changed 3→9", "test/gone 2→-"]);
  expect([...store.values()].map(({ metadata }) => metadata.name)).toEqual(["same", "changed", "written", "created"]);
});

test("an object that was not in a full list stays removed when an older answer arrives", () => {
  const { store } = setUp();
  store.replaceAll([], "20");
  store.put(widget("a", 19));
  expect(store.size).toBe(0);
  store.advance("25");
  store.put(widget("a", 24));
  expect(store.size).toBe(0);
});

test("objects that the watch has shown are told from those that were written", () => {
  const { store } = setUp();
  store.replaceAll([widget("a", 10)], "20");
  store.put(widget("a", 30));
  store.remove(widget("a", 31));
  expect([store.hasShown("20"), store.hasShown("21"), store.hasShown("30")]).toEqual([true, false, false]);
  store.advance("30");
  expect([store.hasShown("30"), store.hasShown("31")]).toEqual([true, false]);
});

test("a list of a rewound server counts alone", () => {
  const { store } = setUp();
  store.replaceAll([widget("a", 300), widget("b", 301)], "400");
  store.replaceAll([widget("a", 90)], "100");
  expect([...store.values()]).toEqual([widget("a", 90)]);
  store.put(widget("b", 101));
  expect(store.size).toBe(2);
});

test("a list of a rewound server whose revision was raised counts alone as well", () => {
  const { store } = setUp();
  store.replaceAll([widget("a", 300), widget("b", 301), widget("same", 80)], "400");
  const seen: (true | undefined)[] = [];
  store.subscribe(({ rewound }) => seen.push(rewound));
  store.replaceAll([widget("a", 90), widget("same", 80)], "1000000400");
  expect([...store.values()]).toEqual([widget("a", 90), widget("same", 80)]);
  expect(seen).toEqual([true, true]);
});

test("objects of a list are told from those that come later", () => {
  const { store } = setUp();
  const seen: (true | undefined)[] = [];
  store.subscribe(({ listed }) => seen.push(listed));
  store.replaceAll([widget("a", 1)], "2");
  store.put(widget("b", 3));
  expect(seen).toEqual([true, undefined]);
});

test("a list may pause at every object that it brings, and at every one that is looked at for being gone", async () => {
  const { store } = setUp();
  let pauses = 0;
  const pause = async () => void pauses++;
  await store.replaceAll([widget("a", 1), widget("b", 2)], "2", pause);
  expect(pauses).toBe(4);
  await store.replaceAll([widget("a", 1)], "3", pause);
  expect(pauses).toBe(7);
});

test("a listener sees the store as it is after the change, and no more once unsubscribed", () => {
  const store = createStore();
  const seen: number[] = [];
  const unsubscribe = store.subscribe(() => seen.push(store.size));
  store.put(widget("a", 1));
  unsubscribe();
  store.put(widget("b", 2));
  expect(seen).toEqual([1]);
});

test("versions share their spec while it stays the same", () => {
  const { store } = setUp();
  const specAfter = (resourceVersion: number, size: number) => {
    store.put(widget("a", resourceVersion, { spec: { size } }));
    return store.get("test/a")?.spec;
  };
  const first = specAfter(10, 1);
  expect(specAfter(11, 1)).toBe(first);
  expect(specAfter(12, 2)).toEqual({ size: 2 });
});
