import { describe, expect, test } from "vitest";
import { readStatus } from "../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { type Life, ownedBlock, ownedServer, readyOf } from "../support/lives.ts";
import { SETTINGS, stage } from "../support/stage.ts";

/** The operator's default. */
const RETRY_MS = 60_000;

/** A block whose name differs from spec, on a platform that accepts changes and applies them only on demand. */
function deafBlock() {
  const life = ownedBlock(false, {}, { name: "other" });
  const { platform, deps } = life.all;
  deps.settings = { ...SETTINGS, retryMs: RETRY_MS };
  let deaf = true;
  platform.afterEach(({ method }) => {
    const item = platform.items.get("dc-a-0");
    if (deaf && method === "PATCH" && item) item.properties = { ...item.properties, name: "other" };
  });
  return {
    ...life,
    listen() {
      deaf = false;
    },
  };
}

/** Passes like those of the queue, for this long. */
async function pass({ all, key }: Pick<Life, "all" | "key">, seconds: number, stepSeconds = 5): Promise<void> {
  for (let passed = 0; passed < seconds; passed += stepSeconds) {
    all.sync();
    await all.passes(key);
    await all.clock.advance(stepSeconds * 1000);
  }
}

const reported = ({ all }: Pick<Life, "all">, reason: string) =>
  all.events.filter((event) => event.includes(` ${reason} `));
const change = ({ all, object }: Life, more: (now: KubeObject) => Partial<KubeObject>) => {
  const now = all.api.get(object) ?? object;
  all.api.put({ ...now, ...more(now) });
};

describe("a change that the platform accepts and does not make", () => {
  test("is sent with backoff, and after a few times it is reported once with both values", async () => {
    const life = deafBlock();
    await pass(life, 3600);
    expect(life.all.platform.sent("PATCH").length).toBeGreaterThanOrEqual(4);
    expect(life.all.platform.sent("PATCH").length).toBeLessThanOrEqual(10);
    expect(readyOf(life)).toMatchObject({ status: "False", reason: "NotApplied" });
    expect(readyOf(life)?.message).toMatch(/^spec\.name is a, .* accepted the change 4 times and still shows other: /);
    expect(readStatus(life.all.api.get(life.object) ?? life.object).conditions).toContainEqual(
      expect.objectContaining({ type: "Stalled", status: "True" }),
    );
    expect(reported(life, "NotApplied")).toHaveLength(1);
  });

  test("is not sent at once after it was taken, whatever wakes the object", async () => {
    const life = deafBlock();
    for (let times = 0; times < 100; times++) {
      life.all.sync();
      await life.all.pass(life.key);
      await life.all.clock.advance(100);
    }
    expect(life.all.platform.sent("PATCH")).toHaveLength(1);
  });

  test("heals by itself when the platform shows it", async () => {
    const life = deafBlock();
    await pass(life, 900);
    expect(readyOf(life)).toMatchObject({ reason: "NotApplied" });
    const sent = life.all.platform.sent("PATCH").length;
    const item = life.all.platform.items.get("dc-a-0");
    if (item) item.properties = { ...item.properties, name: "a" };
    await pass(life, 600);
    expect(readyOf(life)).toMatchObject({ status: "True", reason: "Available" });
    expect(life.all.platform.sent("PATCH")).toHaveLength(sent);
  });

  test("is made by a later attempt when the platform has come to its senses", async () => {
    const life = deafBlock();
    await pass(life, 900);
    life.listen();
    await pass(life, 1900);
    expect(readyOf(life)).toMatchObject({ status: "True", reason: "Available" });
  });

  test("is tried at once after an edit of spec", async () => {
    const life = deafBlock();
    await pass(life, 900);
    life.listen();
    const sent = life.all.platform.sent("PATCH").length;
    change(life, ({ metadata, spec }) => ({
      metadata: { ...metadata, generation: 2 },
      spec: { ...Object(spec), name: "b" },
    }));
    await pass(life, 10, 1);
    expect(life.all.platform.sent("PATCH")).toHaveLength(sent + 1);
    expect(readyOf(life)).toMatchObject({ status: "True" });
  });

  test("is tried at once when somebody asks for it, on a new reading", async () => {
    const life = deafBlock();
    await pass(life, 900);
    const sent = life.all.platform.sent("PATCH").length;
    life.all.deps.memories.clearFailure(life.key, life.all.clock.monotonic());
    await pass(life, 10, 1);
    expect(life.all.platform.sent("PATCH")).toHaveLength(sent + 1);
  });

  test("stays reported after a restart, and is not sent immediately", async () => {
    const life = deafBlock();
    await pass(life, 900);
    const { platform, api } = life.all;
    const sent = platform.sent("PATCH").length;
    const next = { ...life, all: stage([life.object], { platform, api }) };
    next.all.deps.settings = { ...SETTINGS, retryMs: RETRY_MS };
    await pass(next, 120);
    expect(platform.sent("PATCH")).toHaveLength(sent);
    expect(readyOf(next)).toMatchObject({ reason: "NotApplied" });
    await pass(next, 3600);
    expect(platform.sent("PATCH").length).toBeLessThan(sent + 6);
    expect(readyOf(next)).toMatchObject({ reason: "NotApplied" });
    expect(reported(next, "NotApplied")).toEqual([]);
  });

  test("also when it has to be made before a deletion", async () => {
    const life = ownedServer(true, { volumes: 1 });
    const { platform, deps } = life.all;
    deps.settings = { ...SETTINGS, retryMs: RETRY_MS };
    platform.setPace({ removing: () => {} });
    await pass(life, 3600);
    expect(platform.sent("DELETE").length).toBeLessThanOrEqual(10);
    expect(readyOf(life)).toMatchObject({ reason: "NotApplied" });
    expect(readyOf(life)?.message).toContain("detach volume data-0");
  });
});

describe("a change that was taken while somebody edited the object", () => {
  /** Somebody annotates the object while the platform answers. */
  function interrupted(state: string) {
    const life = ownedBlock(false, {}, { name: "other" });
    const { platform } = life.all;
    platform.afterEach(({ method }) => {
      if (method !== "PATCH") return;
      const item = platform.items.get("dc-a-0");
      if (item) item.state = state;
      change(life, ({ metadata }) => ({
        metadata: { ...metadata, annotations: { ...metadata.annotations, "mooring.dev/reconcile-at": "now" } },
      }));
    });
    return life;
  }

  /** Waits for the first read. */
  const read = async ({ all, key }: Life) => {
    await all.pass(key);
    await all.clock.advance(1000);
  };

  test("is reported in an Event, although its status could not be written", async () => {
    const life = interrupted("BUSY");
    await read(life);
    await expect(life.all.passes(life.key)).rejects.toThrow("Conflict");
    expect(reported(life, "Updated")).toEqual(["Normal Updated asked the platform to update: name"]);
  });

  test("is not sent a second time on the reading from before", async () => {
    const life = interrupted("AVAILABLE");
    await read(life);
    await expect(life.all.passes(life.key)).rejects.toThrow("Conflict");
    await pass(life, 60, 1);
    expect(life.all.platform.sent("PATCH")).toHaveLength(1);
    expect(readyOf(life)).toMatchObject({ status: "True" });
    expect(reported(life, "Updated")).toHaveLength(1);
  });
});

describe("a deletion that the platform accepts and does not make", () => {
  test("is sent with backoff, and after a few times it is reported", async () => {
    const life = ownedBlock(false, {}, {});
    const { platform, deps } = life.all;
    deps.settings = { ...SETTINGS, retryMs: RETRY_MS };
    const kept = platform.items.get("dc-a-0");
    platform.afterEach(({ method }) => {
      if (method === "DELETE" && kept) platform.items.set("dc-a-0", kept);
    });
    await pass(life, 60);
    const deletionTimestamp = new Date(life.all.clock.now()).toISOString();
    change(life, ({ metadata }) => ({ metadata: { ...metadata, deletionTimestamp } }));
    await pass(life, 3600);
    expect(platform.sent("DELETE").length).toBeGreaterThanOrEqual(4);
    expect(platform.sent("DELETE").length).toBeLessThanOrEqual(10);
    expect(readyOf(life)).toMatchObject({ status: "False", reason: "NotApplied" });
    expect(readyOf(life)?.message).toContain('accepted "delete" 4 times and shows no effect');
  });
});
