import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { claimOf, openIntent } from "../../../src/engine/state/object.ts";
import { createSignatures } from "../../../src/engine/state/signatures.ts";
import { trust, unknownKey } from "../../../src/engine/status/trust.ts";
import { type KubeObject, keyOf } from "../../../src/kube/resource.ts";
import { datacenterSpec, objectOf } from "../support/fixtures.ts";
import { type Stage, stage } from "../support/stage.ts";

const KEY = "Datacenter/shop/a";

/** Events in the life of a claimed object. Its annotation still has the claim if its status is damaged. */
const happening = fc.oneof(
  fc.constant({ what: "pass" } as const),
  fc.constant({ what: "restart" } as const),
  fc.record({ what: fc.constant("time" as const), seconds: fc.integer({ min: 1, max: 900 }) }),
  fc.record({ what: fc.constant("keys" as const), keys: fc.subarray(["old", "new"], { minLength: 1 }) }),
  fc.record({ what: fc.constant("edit" as const), note: fc.string({ maxLength: 3 }) }),
  fc.record({
    what: fc.constant("spoil" as const),
    part: fc.constantFrom("id", "nonce", "facts", "request", "signature", "status"),
  }),
);
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

function spoilt(status: Record<string, unknown>, part: string): object | undefined {
  const { id, request, ...rest } = status;
  const internal = Object(status.internal);
  switch (part) {
    case "id":
      return rest;
    case "nonce":
      return { ...status, internal: { ...internal, nonce: "another" } };
    case "facts":
      return { ...status, version: 77 };
    case "request":
      return { id, ...rest };
    case "signature":
      return { ...status, internal: { ...internal, signature: undefined } };
    default:
      return undefined;
  }
}

/** Other objects of its kind, newer than all events. */
const others = Array.from({ length: 300 }, (_, nth) => {
  const other = objectOf("Datacenter", `other-${nth}`, { spec: datacenterSpec });
  return { ...other, metadata: { ...other.metadata, resourceVersion: String(1e9 + nth) } };
});

/** One claimed object, with signing keys that are added and removed. */
async function claimedWorld() {
  let keys: readonly string[] = ["old"];
  const seal = createSignatures({ keys: () => keys });
  const object = objectOf("Datacenter", "a", { spec: datacenterSpec });
  let all: Stage = stage([object], { seal });
  const { api, platform } = all;
  await all.passes(KEY);
  const stored = () => api.get(object) ?? object;
  const id: unknown = Reflect.get(Object(stored().status), "id");
  const put = (changed: KubeObject) => {
    api.put(changed);
    all.sync();
  };
  const reads = async (seconds: number) => {
    for (let left = seconds; left > 0; left -= 30) {
      await all.clock.advance(Math.min(left, 30) * 1000);
      all.sync();
      await all.passes(KEY);
    }
  };
  async function happen(event: Happening): Promise<void> {
    const { metadata, status } = stored();
    switch (event.what) {
      case "pass":
        await all.passes(KEY);
        return;
      case "time":
        return reads(event.seconds);
      case "restart":
        all = stage([object], { seal, api, platform, wallTime: all.clock.now() });
        return;
      case "keys":
        keys = event.keys;
        await all.objects.judgeAgain(() => undefined);
        return;
      case "edit":
        return put({ ...stored(), metadata: { ...metadata, labels: { note: event.note } } });
      case "spoil":
        return put({ ...stored(), status: spoilt({ ...Object(status) }, event.part) });
    }
  }
  /** The verdict on the object of the API server, computed again. */
  function judgedNow(): KubeObject {
    const fresh = structuredClone(stored());
    seal.judge("Datacenter", fresh);
    return fresh;
  }
  return {
    id,
    happen,
    judgedNow,
    platform,
    /** The object, parsed again from its text after reads of many others. */
    known() {
      const store = all.objects.store("Datacenter");
      if (store.size === 1) for (const other of others) store.put(other);
      for (const other of others) store.get(keyOf(other));
      return all.objects.find(KEY)?.object;
    },
    unknown: () => all.objects.unknown.has(KEY),
    async restore() {
      keys = ["old", "new"];
      await all.objects.judgeAgain(() => undefined);
      await reads(900);
      return claimOf(all.objects.find(KEY)?.object ?? object)?.id;
    },
  };
}

describe("an object that was claimed", () => {
  test("is never seen as one without a claim, unless its verdict says why, and never gets a second resource", async () => {
    const reported = { unknown: 0, spoilt: 0, claimed: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 3, maxLength: 12 }), async (events) => {
        const world = await claimedWorld();
        for (const event of events) {
          await world.happen(event);
          const known = world.known();
          if (!known) throw new Error("the object is gone");
          const { by: _, ...verdict } = trust.get(known) ?? {};
          const { by: __, ...fresh } = trust.get(world.judgedNow()) ?? {};
          // Neither our own writes nor packing lose a verdict.
          expect(verdict).toEqual(fresh);
          expect(world.unknown()).toBe(unknownKey(known) !== undefined);
          const isClaimed = (claimOf(known) ?? openIntent(known)) !== undefined;
          const isSpoilt = Reflect.get(verdict, "claim") !== "ours";
          expect(isClaimed || isSpoilt || unknownKey(known) !== undefined).toBe(true);
          reported[unknownKey(known) ? "unknown" : isClaimed ? "claimed" : "spoilt"] += 1;
          expect(world.platform.sent("POST")).toHaveLength(1);
          expect(world.platform.sent("DELETE")).toEqual([]);
        }
        expect(await world.restore()).toBe(world.id);
        expect(world.platform.sent("POST")).toHaveLength(1);
      }),
      { numRuns: 40 },
    );
    expect(Math.min(reported.unknown, reported.claimed)).toBeGreaterThan(10);
  });
});
