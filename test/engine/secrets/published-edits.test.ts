import { afterEach, describe, expect, test } from "vitest";
import { KEY_VERSION, MANAGED_BY, PUBLISHED } from "../../../src/engine/state/names.ts";
import { KubeError } from "../../../src/kube/client/errors.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { objectOf } from "../support/fixtures.ts";
import {
  base64,
  expectDiscretion,
  hooked,
  isSecretWrite,
  KINDS,
  live,
  MINUTE,
  valueIn,
  world,
} from "../support/published-world.ts";
import { credentials } from "../support/running-engine.ts";

afterEach(expectDiscretion);

const deep = (secret: KubeObject | undefined) => ({ labels: secret?.metadata.labels, data: secret?.data });

describe.each(["MetricPipeline", "AccessToken"] as const)("the Secret of a %s", (kind) => {
  test("that somebody relabels five times keeps its key, and gets its labels back each time", async () => {
    const here = world(kind);
    await using operator = await live(here);
    const before = deep(here.secret());
    for (const label of [MANAGED_BY, KEY_VERSION, "mooring.dev/kind", "mooring.dev/name", MANAGED_BY]) {
      await operator.relabel(label, "somebody");
      expect(deep(here.secret())).toEqual(before);
    }
    expect(operator.counts()).toMatchObject({ keys: 0, secretWrites: 5, statusWrites: 0 });
    expect(operator.counts().lines).toBeLessThan(60);
    expect(operator.ready()).toMatchObject({ status: "True" });
  });

  test.each([
    ["taken away", undefined],
    ["spoilt", "{"],
  ])("keeps its key when its note is %s, and gets it back", async (_, text) => {
    const here = world(kind);
    await using operator = await live(here);
    const before = deep(here.secret());
    for (let time = 0; time < 5; time++) await operator.annotate(PUBLISHED, text);
    expect(deep(here.secret())).toEqual(before);
    expect(here.secret()?.metadata.annotations?.[PUBLISHED]).toContain(here.status().key?.fingerprint);
    expect(operator.counts()).toMatchObject({ keys: 0, secretWrites: 5 });
    expect(operator.ready()).toMatchObject({ status: "True" });
  });

  test("keeps its key when the label and the note go while no operator runs", async () => {
    const here = world(kind);
    await (await live(here))[Symbol.asyncDispose]();
    const changed = structuredClone(here.secret() ?? credentials);
    changed.metadata.labels = {};
    changed.metadata.annotations = {};
    const [key, made] = [valueIn(here), here.made.length];
    here.api.put(changed);
    await using operator = await live(here);
    expect([valueIn(here), here.made.length]).toEqual([key, made]);
    expect(here.secret()?.metadata.labels).toMatchObject({ [MANAGED_BY]: "mooring", [KEY_VERSION]: "1" });
    expect(here.secret()?.metadata.annotations?.[PUBLISHED]).toContain(here.status().key?.fingerprint);
    expect(operator.ready()).toMatchObject({ status: "True" });
  });

  test("keeps its key while a hook strips the note of every write, and status says so", async () => {
    const here = world(kind);
    hooked(here.api, ({ annotations = {} }) => void Reflect.deleteProperty(annotations, PUBLISHED));
    await using operator = await live(here);
    expect(here.made).toHaveLength(1);
    await here.clock.advance(30 * MINUTE);
    expect(operator.counts().keys).toBe(0);
    expect(operator.counts().secretWrites).toBeLessThan(12);
    expect(operator.counts().statusWrites).toBeLessThan(5);
    expect(operator.counts().lines).toBeLessThan(150);
    expect(operator.ready()).toMatchObject({ status: "True", reason: "Available" });
    expect(here.status()).toMatchObject({ key: { version: 1 }, secretName: here.name });
    expect(here.status().advice).toEqual([expect.stringContaining(PUBLISHED)]);
    here.api.beforeEach(() => {});
    await here.clock.advance(30 * MINUTE);
    expect(here.secret()?.metadata.annotations?.[PUBLISHED]).toBeDefined();
    expect(here.status().advice).toBeUndefined();
  });

  test("keeps its key while the API server refuses to have labels put back, and status says so", async () => {
    const here = world(kind);
    await using operator = await live(here);
    here.api.beforeEach((call) => {
      if (isSecretWrite(call))
        throw new KubeError({ status: 403, reason: "Forbidden", message: "a policy forbids it" });
    });
    await operator.relabel(MANAGED_BY, "somebody", 30 * MINUTE);
    expect(operator.counts()).toMatchObject({ keys: 0 });
    expect(operator.counts().secretWrites).toBeLessThan(15);
    expect(operator.ready()).toMatchObject({ status: "True" });
    expect(here.status().advice).toEqual([expect.stringContaining("a policy forbids it")]);
  });

  test("whose key somebody edits gets a new one, once, and an Event says why", async () => {
    const here = world(kind);
    await using operator = await live(here);
    await operator.enter(KINDS[kind].key, "somebody-else", 5 * MINUTE);
    expect(operator.counts()).toMatchObject({ keys: 1, secretWrites: 1 });
    expect(valueIn(here)).toBe(here.made.at(-1));
    expect(here.status()).toMatchObject({ key: { version: 2 } });
    expect(operator.ready()).toMatchObject({ status: "True" });
    expect(operator.news().filter((each) => each.includes("SecretChanged"))).toEqual([
      expect.stringMatching(new RegExp(`^Warning SecretChanged Secret ${here.name}.*${KINDS[kind].key}.*a new key`)),
    ]);
  });

  test("gets one new key when its labels and its note go right after that was made", async () => {
    const here = world(kind);
    await using operator = await live(here);
    await operator.enter(KINDS[kind].key, "somebody-else", 0);
    await operator.edit(({ metadata }) => {
      metadata.labels = {};
      metadata.annotations = {};
    }, 5 * MINUTE);
    expect(operator.counts()).toMatchObject({ keys: 1 });
    expect(valueIn(here)).toBe(here.made.at(-1));
    expect(operator.ready()).toMatchObject({ status: "True" });
  });

  test("gets a new key when an earlier one is put back with its note", async () => {
    const here = world(kind);
    await using operator = await live(here);
    const earlier = structuredClone(here.secret() ?? credentials);
    operator.remove(earlier);
    await here.clock.advance(15 * MINUTE);
    expect(operator.counts().keys).toBe(1);
    await operator.edit((it) => {
      it.data = earlier.data;
      it.metadata.annotations = earlier.metadata.annotations ?? {};
    }, 15 * MINUTE);
    expect(operator.counts().keys).toBe(2);
    expect(valueIn(here)).toBe(here.made.at(-1));
    expect(here.status()).toMatchObject({ key: { version: 3 } });
  });

  test("that is deleted again and again gets new keys at a growing pause, also over restarts", async () => {
    const here = world(kind);
    let operator = await live(here);
    const at: number[] = [];
    const remove = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        const found = here.secret();
        if (found) {
          at.push(here.clock.monotonic());
          operator.remove(found);
        }
        await here.clock.advance(1000);
      }
    };
    const before = here.made.length;
    await remove(1200);
    const pauses = at.slice(1).map((time, nth) => time - (at[nth] ?? 0));
    // After the last edit there was no time for another key.
    expect(at.length - (here.made.length - before)).toBeLessThan(2);
    expect(at.length).toBeGreaterThan(3);
    expect(at.length).toBeLessThan(10);
    expect(pauses.slice(1).every((pause, nth) => pause > (pauses[nth] ?? 0))).toBe(true);
    await operator[Symbol.asyncDispose]();
    const restarted = here.made.length;
    for (let process = 0; process < 6; process++) {
      operator = await live(here, async () => {});
      await remove(2);
      await operator[Symbol.asyncDispose]();
    }
    expect(here.made.length - restarted).toBeLessThan(3);
  });

  test("that is deleted once gets its new key at once", async () => {
    const here = world(kind);
    await using operator = await live(here);
    operator.remove(here.secret() ?? credentials);
    await here.clock.advance(1000);
    expect(operator.counts()).toMatchObject({ keys: 1, secretWrites: 1 });
    expect(valueIn(here)).toBe(here.made.at(-1));
    expect(operator.news().join()).toContain("SecretChanged");
  });

  test("of somebody else in its place is neither written nor counted as ours", async () => {
    const here = world(kind);
    await using operator = await live(here);
    operator.remove(here.secret() ?? credentials);
    const theirs = objectOf("Secret", here.name, { apiVersion: "v1", data: { key: base64("theirs") } });
    here.api.put({ ...theirs, metadata: { ...theirs.metadata, uid: "uid-theirs" } });
    await here.clock.advance(10 * MINUTE);
    expect(operator.counts()).toMatchObject({ keys: 0, secretWrites: 0 });
    expect(operator.ready()).toMatchObject({ status: "False", reason: "SecretNotOwned" });
  });
});

test("any other edit of a Secret is written back, and the key stays", async () => {
  const here = world("MetricPipeline");
  await using operator = await live(here);
  const before = deep(here.secret());
  await operator.enter("endpoint", "http://elsewhere.test");
  await operator.edit((it) => void Reflect.deleteProperty(Object(it.data), "prometheus.yaml"));
  expect(deep(here.secret())).toEqual(before);
  expect(operator.counts()).toMatchObject({ keys: 0, secretWrites: 2 });
  expect(operator.news().filter((each) => each.includes("SecretChanged"))).toEqual([
    expect.stringContaining("endpoint"),
    expect.stringContaining("prometheus.yaml"),
  ]);
  expect(operator.ready()).toMatchObject({ status: "True" });
});

test("an entry that somebody adds to a Secret is left alone", async () => {
  const here = world("MetricPipeline");
  await using operator = await live(here);
  await operator.enter("theirs", "added");
  expect(operator.counts()).toMatchObject({ keys: 0, secretWrites: 0 });
});

test("however often spec changes, the Secret follows at once", async () => {
  const here = world("MetricPipeline");
  await using operator = await live(here);
  for (let nth = 1; nth <= 8; nth++) {
    const object = here.api.get(here.object) ?? here.object;
    const { metadata, spec } = object;
    operator.put({
      ...object,
      metadata: { ...metadata, generation: nth + 1 },
      spec: { ...Object(spec), pushInterval: `${nth + 20}s` },
    });
    await here.clock.advance(1000);
    expect(operator.counts()).toMatchObject({ keys: 0, secretWrites: nth });
  }
  expect(operator.ready()).toMatchObject({ status: "True" });
});

test("an edit that somebody repeats is answered ever later, and until then the object is not Ready", async () => {
  const here = world("MetricPipeline");
  await using operator = await live(here);
  for (let second = 0; second < 300; second++) await operator.enter("endpoint", `http://${second}.test`, 1000);
  expect(operator.counts().keys).toBe(0);
  expect(operator.counts().secretWrites).toBeLessThan(12);
  expect(operator.ready()).toMatchObject({ status: "False", reason: "SecretChanged" });
});
