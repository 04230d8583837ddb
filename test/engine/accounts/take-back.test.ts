import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { fakeApiServer } from "../support/fake-api-server.ts";
import { API, fakePlatform } from "../support/fake-platform.ts";
import { annotated, clusterAccountOf, objectOf } from "../support/fixtures.ts";
import { BEGIN, stage } from "../support/stage.ts";

const SHARED = "ClusterAccount/shared";
const OTHER = "ClusterAccount/other";
const ALICE = "Datacenter/alice/a";
const BOB = "Datacenter/bob/b";
const accountRef = { kind: "ClusterAccount", name: "shared" };
const spec = { accountRef, location: "de/txl", name: "theirs" };

/** A datacenter that bob has released and alice has adopted, while that was allowed. */
async function adopted(claimedThrough = SHARED, adoptions: object | undefined = undefined) {
  const open = clusterAccountOf("shared", { default: true, namespaces: { selector: {} } });
  const shared = adoptions ? { ...open, status: { adoptions } } : open;
  const other = clusterAccountOf("other", { namespaces: { selector: {} } });
  const platform = fakePlatform();
  const id = platform.make("theirs", { properties: { name: "theirs", location: "de/txl" } }, { entities: {} });
  const claim = { id, parents: {}, account: claimedThrough, contract: 1, endpoint: API };
  const alice = objectOf("Datacenter", "a", {
    spec: { ...spec, externalId: id },
    metadata: { name: "a", namespace: "alice" },
  });
  const bob = objectOf("Datacenter", "b", {
    spec: { ...spec, accountRef: { kind: "ClusterAccount", name: claimedThrough.split("/")[1] } },
    metadata: { ...annotated("b", claim), namespace: "bob" },
    status: {},
  });
  const api = fakeApiServer(shared, other, alice);
  /** A process of the operator, on the API server and the platform that outlive it. */
  function run(adoption: "None" | "Any", ...more: KubeObject[]) {
    const all = stage([shared, other, alice, ...more], { api, platform });
    const handle = all.accounts.get(SHARED);
    for (const key of [SHARED, OTHER]) if (handle) all.accounts.put({ ...handle, key, adoption });
    const reasonOf = (object: KubeObject) => Object(api.get(object)?.status).conditions?.[0]?.reason;
    const restore = (object: KubeObject) => {
      api.put(object);
      all.sync();
    };
    const remove = (object: KubeObject) => {
      const last = api.get(object);
      api.remove(object);
      all.sync();
      if (!last) throw new Error("there is nothing to remove");
      return last;
    };
    return { ...all, reasonOf, restore, remove, owners: () => [ALICE, BOB].map((key) => all.objects.owned(key)?.id) };
  }
  const first = run("Any", bob);
  await first.passes(ALICE);
  expect(first.owners()).toEqual([id, undefined]);
  return { api, run, first, id, alice, bob };
}

describe("a claim that an adoption through a ClusterAccount has superseded", () => {
  test("stays void while the object that adopted the resource is absent", async () => {
    const { first, id, alice, bob } = await adopted();
    const handle = first.accounts.get(SHARED);
    if (handle) first.accounts.put({ ...handle, adoption: "None" });
    const { metadata, ...kept } = first.remove(alice);
    first.restore(bob);
    await first.passes(BOB);
    expect(first.owners()).toEqual([undefined, undefined]);
    expect(first.reasonOf(bob)).toBe("NotYours");
    // Her backup has neither status nor uid.
    first.restore({ ...kept, metadata: { ...metadata, uid: "uid-restored" }, status: {} });
    await first.passes(ALICE);
    expect(first.owners()).toEqual([id, undefined]);
  });

  test("stays void where it was made through another ClusterAccount of the contract, also in the next process", async () => {
    const { first, run, id, alice, bob } = await adopted(OTHER);
    const restored = first.remove(alice);
    expect(first.owners()).toEqual([undefined, undefined]);
    const next = run("None", bob);
    next.skip(5 * 3_600_000);
    next.restore(bob);
    await next.passes(BOB);
    expect([next.owners(), next.reasonOf(bob)]).toEqual([[undefined, undefined], "NotYours"]);
    next.restore(restored);
    expect(next.owners()).toEqual([id, undefined]);
  });

  test("stays void in the next process, hours later", async () => {
    const { first, run, id, alice, bob } = await adopted();
    const restored = first.remove(alice);
    const next = run("None", bob);
    next.skip(5 * 3_600_000);
    next.restore(bob);
    await next.passes(BOB);
    expect([next.owners(), next.reasonOf(bob)]).toEqual([[undefined, undefined], "NotYours"]);
    next.restore(restored);
    expect(next.owners()).toEqual([id, undefined]);
  });

  test("stays void in a status, which is that of an object that slept", async () => {
    const { first, id, alice, bob } = await adopted();
    first.remove(alice);
    first.restore({ ...bob, status: { id, account: SHARED, contract: 1, endpoint: API } });
    expect(first.owners()).toEqual([undefined, undefined]);
  });

  test("does not keep its object from an adoption of its own, where that is allowed", async () => {
    const { first, id, alice, bob } = await adopted();
    first.remove(alice);
    first.restore(bob);
    await first.passes(BOB);
    expect(first.owners()).toEqual([undefined, id]);
    expect(first.objects.owned(BOB)?.adoptedAt).toBe(new Date(BEGIN).toISOString());
  });
});

describe("the record of adoptions of a ClusterAccount", () => {
  /** A record with as many adoptions as fit, made in this year. */
  const full = (year: number) => {
    const digits = [..."0123456789abcdef"];
    const group = (digit: string) =>
      Array.from({ length: 100 }, (_, nth) => [
        `${digit}${String(nth).padStart(15, "0")}`,
        `${year}-01-01T00:00:00.000Z`,
      ]);
    return Object.fromEntries(digits.map((digit) => [digit, Object.fromEntries(group(digit))]));
  };
  const forgetting = ({ events }: { events: string[] }) => events.filter((event) => event.includes("is forgotten"));

  test("says in an Event which adoption it forgets when it is full, and what that means", async () => {
    const { first } = await adopted(SHARED, full(2024));
    expect(forgetting(first)).toEqual([
      expect.stringMatching(/^Warning Adopting .*2024-01-01T00:00:00.000Z is forgotten.* owns it again/),
    ]);
  });

  test("says nothing while it has room", async () => {
    const { first } = await adopted();
    expect(forgetting(first)).toEqual([]);
  });
});
