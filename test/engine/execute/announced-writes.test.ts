import { describe, expect, test } from "vitest";
import { execute } from "../../../src/engine/execute/execute.ts";
import { writeKeyOf } from "../../../src/engine/state/intent.ts";
import { ALLOW_DATA_LOSS, FINALIZER } from "../../../src/engine/state/names.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import type { PlatformCall } from "../../../src/platform/calls/transport.ts";
import { hashFields } from "../../../src/runtime/hash.ts";
import { fakeApiServer } from "../support/fake-api-server.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { objectOf } from "../support/fixtures.ts";
import {
  DC,
  keyless,
  LANS,
  type Life,
  NIC,
  ownedBlock,
  ownedLan,
  ownedServer,
  readyOf,
  SERVERS,
} from "../support/lives.ts";
import { BEGIN, SETTINGS, stage } from "../support/stage.ts";

const { createDeadlineMs, settleMs } = SETTINGS;
const by = { pod: "mooring-before", process: "before", deadlineMs: createDeadlineMs };
const account = "shop/main";

/** A write that was recorded as about to be sent when its leader ended. */
const announced = (sinceMs: number, more: object) => ({
  request: { status: "SENDING", since: new Date(BEGIN + sinceMs).toISOString(), by, ...more },
});

const VOLUME = "0d4f97f0-1689-41ef-97ce-525400f64d8d";
const restore = {
  method: "POST" as const,
  path: `/datacenters/${DC}/volumes/${VOLUME}/restore-snapshot`,
  body: { properties: { snapshotId: "snap-1" } },
};
function restoring(sinceMs: number): Life {
  const platform = fakePlatform();
  const properties = { name: "a", description: "", location: "de/txl", size: 10, licenceType: "LINUX" };
  platform.make("a", { properties }, { path: "/snapshots", targets: ["snap-1"] });
  const parents = { datacenter: DC, volume: VOLUME };
  const request = announced(sinceMs, {
    action: "restore the volume",
    ...writeKeyOf(restore),
    marks: { restored: "now" },
  });
  const object = objectOf("Snapshot", "a", {
    spec: { datacenterId: DC, volumeId: VOLUME },
    metadata: { name: "a", finalizers: [FINALIZER], annotations: { "mooring.dev/restore-at": "now" } },
    status: { id: "snap-1", parents, account, restored: "", ...request },
  });
  return { all: stage([object], { platform }), key: "Snapshot/shop/a", object, beforeEach: platform.beforeEach };
}

const isWrite = ({ method }: PlatformCall) => method !== "GET";
const WRITES: [string, (sinceMs: number) => Life][] = [
  [
    "the addition of a NIC",
    (sinceMs) => {
      const add = { method: "POST" as const, path: `${SERVERS}/srv-1/nics`, body: { properties: NIC } };
      return ownedServer(false, {
        nics: [NIC],
        status: announced(sinceMs, { action: "add NIC first", ...writeKeyOf(add) }),
      });
    },
  ],
  [
    "the deletion of a LAN",
    (sinceMs) => {
      const mark = writeKeyOf({ method: "DELETE", path: `${LANS}/1` });
      return ownedLan(true, announced(sinceMs, { action: "delete", ...mark }));
    },
  ],
  ["the restoration of a snapshot", restoring],
  [
    "the renewal of a key",
    (sinceMs) => {
      const request = announced(sinceMs, { action: "renew the key", nonce: "of-before" });
      return keyless({ status: { id: "mp-1", account, nonce: "n0", ...request } });
    },
  ],
];

describe.each(WRITES)("%s that another leader has announced", (_, open) => {
  test.each([
    ["right", 0],
    ["90 s ahead", 90_000],
    ["90 s behind", -90_000],
    ["an hour behind", -3_600_000],
  ])("is not repeated before its time is over by our own clock, when the other's was %s", async (_, skew) => {
    const sentAt = await repeatedAt(open(skew));
    expect(sentAt).toBeGreaterThanOrEqual(createDeadlineMs + settleMs);
    expect(sentAt).toBeLessThan(createDeadlineMs + settleMs + 5000);
  });

  test("is not repeated any earlier when that one was an earlier process of this pod", async () => {
    const life = open(0);
    life.all.deps.self = { ...by, process: "this" };
    expect(await repeatedAt(life)).toBeGreaterThanOrEqual(createDeadlineMs + settleMs);
  });
});

/** The time at which the write is sent again, by the clock of the process. */
async function repeatedAt({ all: { clock, pass }, key, beforeEach }: Life): Promise<number | undefined> {
  let sentAt: number | undefined;
  beforeEach((call) => {
    if (isWrite(call)) sentAt ??= clock.monotonic();
  });
  while (sentAt === undefined && clock.monotonic() < 300_000) {
    await pass(key);
    await clock.advance(500);
  }
  return sentAt;
}

test("a NIC whose addition is executed late, after its leader has gone, is there once", async () => {
  for (const skew of [-90_000, 90_000]) {
    const first = ownedServer(false, { nics: [NIC] });
    const { platform, api } = first.all;
    const ahead = stage([first.object], { platform, api, wallTime: BEGIN + skew });
    platform.setClock(ahead.clock.now);
    let late: PlatformCall | undefined;
    // The request is under way, and the process ends without its answer.
    const gone = new Promise<never>(() => {});
    const connection = platform.connectionOf("shop/main");
    const handle = ahead.accounts.get("shop/main");
    if (!handle) throw new Error("there is no Account");
    ahead.accounts.put({
      ...handle,
      connection: {
        ...connection,
        send(call) {
          if (call.method !== "POST") return connection.send(call);
          late = call;
          return gone;
        },
      },
    });
    for (let seconds = 0; seconds < 60 && !late; seconds++) {
      void ahead.pass(first.key);
      await ahead.clock.advance(1000);
    }
    expect(readStatus(api.get(first.object) ?? first.object).request).toMatchObject({ status: "SENDING" });
    const next = stage([first.object], { platform, api });
    platform.setClock(next.clock.now);
    for (let seconds = 0; seconds < 200; seconds++) {
      next.sync();
      await next.passes(first.key);
      if (seconds === 9 && late) platform.execute(late);
      await next.clock.advance(1000);
    }
    expect(platform.sent("POST")).toEqual([]);
    expect([...platform.items.values()].filter(({ path }) => path?.endsWith("/nics"))).toHaveLength(1);
    expect(readyOf({ ...first, all: next })).toMatchObject({ status: "True" });
  }
});

describe("a wall clock that is set back by an hour", () => {
  const HOUR_MS = 3_600_000;
  async function live({ all, key, object }: Life, done: () => boolean) {
    for (let seconds = 0; seconds < 120 && !done(); seconds++) {
      all.sync();
      if (!all.api.get(object)) return;
      await all.passes(key);
      await all.clock.advance(1000);
    }
  }
  const isReady = (life: Life) => readyOf(life)?.status === "True";

  test("stalls no creation, no change and no deletion that is under way", async () => {
    const object = objectOf("IPBlock", "a", { spec: { location: "de/txl", size: 1 } });
    const platform = fakePlatform();
    const api = fakeApiServer(object);
    const all = stage([object], { platform, api });
    platform.setClock(all.clock.now);
    const life: Life = { all, key: "IPBlock/shop/a", object, beforeEach: platform.beforeEach };
    platform.afterEach(({ method }) => {
      if (method !== "GET") all.stepWallClock(-HOUR_MS);
    });
    await live(life, () => isReady(life));
    expect(readyOf(life)).toMatchObject({ status: "True" });
    const stored = () => api.get(object) ?? object;
    const { metadata, ...rest } = stored();
    api.put({ ...rest, spec: { ...Object(rest.spec), name: "other" }, metadata: { ...metadata, generation: 2 } });
    await live(life, () => platform.sent("PATCH").length > 0);
    await live(life, () => isReady(life) && readStatus(stored()).observedGeneration === 2);
    expect(readStatus(stored()).observedGeneration).toBe(2);
    expect(isReady(life)).toBe(true);
    api.put({ ...stored(), metadata: { ...stored().metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
    await live(life, () => !api.get(object));
    expect(api.get(object)).toBeUndefined();
    expect(platform.items.size).toBe(0);
    expect(platform.writes().map((write) => write.split(" ")[0])).toEqual(["POST", "PATCH", "DELETE"]);
  });
});

test("a catalogue is read again after a minute, although the wall clock was set back meanwhile", async () => {
  const spec = {
    datacenterId: DC,
    size: 10,
    type: "SSD Standard",
    imageLookup: { name: "debian", location: "de/txl" },
  };
  const { platform, pass, clock, stepWallClock } = stage([objectOf("Volume", "a", { spec })]);
  platform.make("dc", { properties: { location: "de/txl" } }, { targets: [DC] });
  const asked = () => platform.sent("GET").filter(({ url }) => url.includes("/images")).length;
  await pass("Volume/shop/a");
  await pass("Volume/shop/a");
  expect(asked()).toBe(1);
  stepWallClock(-3_600_000);
  await clock.advance(60_000);
  await pass("Volume/shop/a");
  expect(asked()).toBe(2);
});

describe("the word that allows to lose data", () => {
  const fields = ["location", "size"];
  const made = hashFields({ location: "de/fra", size: 1 }, fields);
  const wanting = (generation: number, word: string, lossAllowed?: number) => {
    const { all, key } = ownedBlock(false, {
      spec: { location: "de/txl", size: 1, replacePolicy: "WhenNeeded" },
      metadata: { name: "a", generation, finalizers: [FINALIZER], annotations: { [ALLOW_DATA_LOSS]: word } },
      status: { id: "dc-a-0", account, nonce: "n0", fixed: made, ...(lossAllowed !== undefined && { lossAllowed }) },
    });
    return all.contextOf(key).view.spec.replacement?.verdict;
  };

  test("counts for the generation it was first used for, and for no later one", () => {
    expect(wanting(2, "true")).toBe("allowed");
    expect(wanting(2, "true", 2)).toBe("allowed");
    expect(wanting(2, "yes")).toBe("allowed");
    expect(wanting(3, "1", 2)).toEqual({ allowedBy: "3" });
    expect(wanting(3, "true", 2)).toEqual({ allowedBy: "3" });
  });

  test("names the generation that it is for, where it was used before", () => {
    expect(wanting(3, "3", 2)).toBe("allowed");
    expect(wanting(4, "3", 2)).toEqual({ allowedBy: "4" });
  });

  test("is used up by a replacement, although it stays where it is", async () => {
    const life = ownedBlock(false, {
      spec: { location: "de/txl", size: 1, replacePolicy: "WhenNeeded" },
      metadata: { name: "a", generation: 2, finalizers: [FINALIZER], annotations: { [ALLOW_DATA_LOSS]: "true" } },
      status: { id: "dc-a-0", account, nonce: "n0", fixed: made },
    });
    const { all, object } = life;
    all.platform.setClock(all.clock.now);
    const live = async () => {
      for (let seconds = 0; seconds < 120; seconds++) {
        all.sync();
        await all.passes(life.key);
        await all.clock.advance(1000);
      }
    };
    await live();
    expect(all.platform.writes().map((write) => write.split(" ")[0])).toEqual(["DELETE", "POST"]);
    expect(readyOf(life)).toMatchObject({ status: "True" });
    const stored = all.api.get(object) ?? object;
    const spec = { location: "de/fra", size: 1, replacePolicy: "WhenNeeded" };
    all.api.put({ ...stored, spec, metadata: { ...stored.metadata, generation: 3 } });
    await live();
    expect(readyOf(life)).toMatchObject({ reason: "DataLossNotAllowed" });
    expect(readyOf(life)?.message).toContain('to "3"');
    expect(all.platform.sent("DELETE")).toHaveLength(1);
  });

  test("is not used up by what needs nobody's word: to make anew what the platform has never finished", async () => {
    const { all, key, object } = ownedBlock(false, {
      spec: { location: "de/txl", size: 1, replacePolicy: "WhenNeeded" },
      metadata: { name: "a", generation: 1, finalizers: [FINALIZER], annotations: { [ALLOW_DATA_LOSS]: "true" } },
      status: { id: "dc-a-0", account, nonce: "n0", fixed: hashFields({ location: "de/txl", size: 1 }, fields) },
    });
    await execute(all.deps, all.contextOf(key), { step: "delete", action: "replace" });
    expect(all.platform.sent("DELETE")).toHaveLength(1);
    expect(readStatus(all.api.get(object) ?? object).lossAllowed).toBeUndefined();
  });
});
