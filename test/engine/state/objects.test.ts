import { describe, expect, test } from "vitest";
import { FINALIZER } from "../../../src/engine/state/names.ts";
import { claimOf, objectKey, openIntent } from "../../../src/engine/state/object.ts";
import { createObjects } from "../../../src/engine/state/objects.ts";
import { kinds } from "../../../src/kinds/index.ts";
import type { Kind } from "../../../src/kinds/kind.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { API, annotated, intending, intentOf, objectOf, serverSpec } from "../support/fixtures.ts";
import { unsealed } from "../support/unsigned.ts";

function cluster(...objects: KubeObject[]) {
  const all = createObjects(kinds, unsealed, (error) => {
    throw error;
  });
  const put = (object: KubeObject) => all.store(object.kind).put(object);
  objects.forEach(put);
  return { all, put, remove: (object: KubeObject) => all.store(object.kind).remove(object) };
}

function kindOf(name: string): Kind {
  const kind = kinds.find((each) => each.kind === name);
  if (!kind) throw new Error(`there is no kind ${name}`);
  return kind;
}
const server = (name: string, more: Partial<KubeObject> = {}) =>
  objectOf("Server", name, { spec: serverSpec("dc"), ...more });
const begun = (name: string, at: string, more: object = {}) =>
  server(name, { metadata: intending(name, intentOf({ at, ...more })) });

describe("a resource that several objects claim", () => {
  const claim = { id: "s1", parents: { datacenter: "d1" }, account: "shop/main", endpoint: API };
  const at = (name: string, creationTimestamp: string, more: object = {}) =>
    server(name, { metadata: { name, creationTimestamp }, status: { ...claim, ...more } });

  test("is that of the one which was there first, and of the other when that is gone", () => {
    const [first, replayed] = [at("first", "2026-01-01T00:00:00Z"), at("again", "2026-01-02T00:00:00Z")];
    const { all, remove } = cluster(replayed, first);
    expect(all.owned("Server/shop/first")).toEqual(claim);
    expect(all.owned("Server/shop/again")).toBeUndefined();
    remove(first);
    expect(all.owned("Server/shop/again")).toEqual(claim);
  });

  test("is that of the one which claimed it first, when both were made in the same second", () => {
    const [first, replayed] = [at("first", "2026-01-01T00:00:00Z"), at("again", "2026-01-01T00:00:00Z")];
    const { all, put } = cluster(first, replayed);
    put({ ...first, metadata: { ...first.metadata, resourceVersion: "900000000", labels: { a: "b" } } });
    expect(all.owned("Server/shop/first")).toEqual(claim);
    expect(all.owned("Server/shop/again")).toBeUndefined();
  });

  test("is somebody else's where only its number is the same", () => {
    const { all } = cluster(
      at("a", "2026-01-01T00:00:00Z"),
      at("b", "2026-01-02T00:00:00Z", { parents: { datacenter: "d2" } }),
    );
    expect(all.owned("Server/shop/b")).toMatchObject({ id: "s1" });
  });
});

describe("a resource that an object owns", () => {
  const claim = { id: "s1", parents: { datacenter: "d1" }, account: "shop/main", endpoint: API };

  test("is what its status says", () => {
    expect(claimOf(server("a", { status: claim }))).toEqual(claim);
  });

  test("is what its annotation says where status was lost", () => {
    expect(claimOf(server("a", { metadata: annotated("a", claim) }))).toEqual(claim);
  });

  test("keeps its contract", () => {
    const ours = { ...claim, contract: 7 };
    expect(claimOf(server("a", { status: ours }))).toEqual(ours);
    expect(claimOf(server("a", { metadata: annotated("a", ours) }))).toEqual(ours);
  });

  test("is nothing while an intent is open, whatever id status still holds", () => {
    const object = server("a", { metadata: intending("a", intentOf()), status: claim });
    expect(openIntent(object)?.nonce).toBe("n1");
    expect(claimOf(object)).toBeUndefined();
  });

  test("is the id that answers the intent", () => {
    const object = server("a", { metadata: intending("a", intentOf()), status: { ...claim, nonce: "n1" } });
    expect(openIntent(object)).toBeUndefined();
    expect(claimOf(object)).toEqual(claim);
  });

  test("is nothing after a refusal, even with an annotation from before", () => {
    const { annotations: before } = annotated("a", claim);
    const { annotations: now } = intending("a", intentOf());
    const metadata = { name: "a", annotations: { ...before, ...now } };
    expect(claimOf(server("a", { metadata, status: { nonce: "n1" } }))).toBeUndefined();
  });

  test("is nothing once it was let go, though others hold it back from being deleted", () => {
    const leaving = (finalizers: string[]) => ({ name: "a", deletionTimestamp: "2026-01-01T00:00:00Z", finalizers });
    expect(claimOf(server("a", { metadata: leaving(["other", FINALIZER]), status: claim }))).toEqual(claim);
    expect(claimOf(server("a", { metadata: leaving(["other"]), status: claim }))).toBeUndefined();
  });

  test("is nothing when somebody has spoilt the annotation", () => {
    expect(claimOf(server("a", { metadata: annotated("a", { id: 7 }) }))).toBeUndefined();
  });
});

describe("the index of objects", () => {
  test("knows who names an object, before that one exists", () => {
    const { all } = cluster(server("a"), server("b"));
    expect(all.referrers(objectKey("Datacenter", "shop", "dc"))).toEqual(["Server/shop/a", "Server/shop/b"]);
    expect(all.referrers(objectKey("Datacenter", "other", "dc"))).toEqual([]);
  });

  test("follows a changed reference", () => {
    const { all, put } = cluster(server("a"));
    put(server("a", { spec: serverSpec("dc2") }));
    expect(all.referrers("Datacenter/shop/dc")).toEqual([]);
    expect(all.referrers("Datacenter/shop/dc2")).toEqual(["Server/shop/a"]);
  });

  test("counts a reference into another namespace while a Grant there opens it", () => {
    const nic = { name: "n", lan: 1, ipsFrom: [{ ipBlockRef: { namespace: "other", name: "b" } }] };
    const user = server("a", { spec: { ...serverSpec("dc"), nics: [nic] }, status: { id: "s1" } });
    const { all, put, remove } = cluster(user);
    const grant = (more: object = {}) =>
      objectOf("Grant", "g", {
        spec: { namespaces: { names: ["shop"] }, kinds: ["IPBlock"] },
        metadata: { name: "g", namespace: "other", ...more },
      });
    const known = () => {
      const named = all.named(kindOf("Server"), user).map(({ key }) => key);
      return [all.referrers("IPBlock/other/b"), all.dependents("IPBlock/other/b"), named];
    };
    const users = ["Server/shop/a"];
    const granted = [users, users, ["Datacenter/shop/dc", "IPBlock/other/b"]];
    const closed = [[], [], ["Datacenter/shop/dc"]];
    expect(known()).toEqual(closed);
    put(grant());
    expect(known()).toEqual(granted);
    put(grant({ deletionTimestamp: "2026-01-01T00:00:00Z" }));
    expect(known()).toEqual(closed);
    remove(grant());
    expect(known()).toEqual(closed);
    put(grant({ uid: "again" }));
    expect(known()).toEqual(granted);
  });

  test("finds no references in a spec that cannot be read", () => {
    const { all } = cluster(server("a", { spec: "nonsense" }));
    expect(all.referrers("Datacenter/shop/dc")).toEqual([]);
    expect(all.find("Server/shop/a")?.kind.kind).toBe("Server");
  });

  test("knows who claims an id, by kind", () => {
    const { all, put } = cluster(server("a", { status: { id: "s1" } }));
    expect(all.claimants("Server", { id: "s1", parents: {}, endpoint: API })).toEqual(["Server/shop/a"]);
    expect(all.claimants("Datacenter", { id: "s1", parents: {}, endpoint: API })).toEqual([]);
    put(server("a", { status: { id: "s2" } }));
    expect(all.claimants("Server", { id: "s1", parents: {}, endpoint: API })).toEqual([]);
  });

  test("tells apart what has the same number under different parents", () => {
    const parents = { datacenter: "d1" };
    const { all } = cluster(server("a", { status: { id: "1", parents } }));
    expect(all.claimants("Server", { id: "1", parents, endpoint: API })).toEqual(["Server/shop/a"]);
    expect(all.claimants("Server", { id: "1", parents: { datacenter: "d2" }, endpoint: API })).toEqual([]);
    expect(all.holders("shop", "1")).toEqual(["Server/shop/a"]);
  });

  test("puts equal intents in the order in which they were begun, then by name", () => {
    const { all } = cluster(
      begun("c", "2026-01-01T00:00:01.000Z"),
      begun("b", "2026-01-01T00:00:02.000Z"),
      begun("a", "2026-01-01T00:00:02.000Z"),
    );
    expect(all.rivals("Server", intentOf())).toEqual(["Server/shop/c", "Server/shop/a", "Server/shop/b"]);
  });

  test("counts only intents of the same body under the same parents that are still open", () => {
    const at = "2026-01-01T00:00:00.000Z";
    const { all, put } = cluster(
      begun("a", at, { parents: { datacenter: "d1" } }),
      begun("b", at, { parents: { datacenter: "d2" } }),
      begun("c", at, { parents: { datacenter: "d1" }, hash: "other" }),
      begun("d", at, { parents: { datacenter: "d1" }, nonce: "n2" }),
    );
    const wanted = intentOf({ parents: { datacenter: "d1" } });
    expect(all.rivals("Server", wanted)).toEqual(["Server/shop/a", "Server/shop/d"]);
    expect(all.rivals("Datacenter", wanted)).toEqual([]);
    put(server("a", { metadata: intending("a", wanted), status: { nonce: "n1", id: "s1" } }));
    expect(all.rivals("Server", wanted)).toEqual(["Server/shop/d"]);
  });

  test("knows who needs an Account: by a resource, or by a creation that was begun", () => {
    const { all } = cluster(
      server("a", { status: { id: "s1", account: "shop/main" } }),
      begun("b", "2026-01-01T00:00:00.000Z"),
      server("c"),
      server("d", { metadata: annotated("d", { id: "s4", parents: {}, account: "shop/main" }) }),
    );
    expect(all.users("shop/main")).toEqual(["Server/shop/a", "Server/shop/b", "Server/shop/d"]);
  });

  test("knows what lives in a resource: by a claim, or by a creation that was begun", () => {
    const { all, put } = cluster(
      server("a", { status: { id: "s1", parents: { datacenter: "d1" } } }),
      begun("b", "2026-01-01T00:00:00.000Z", { parents: { datacenter: "d1" } }),
      server("c"),
    );
    expect(all.inhabitants("d1", API)).toEqual(["Server/shop/a", "Server/shop/b"]);
    put(server("a"));
    expect(all.inhabitants("d1", API)).toEqual(["Server/shop/b"]);
  });

  test("knows for ever that a resource was claimed, and nothing of another one with its number", () => {
    const parents = { datacenter: "d1" };
    const place = { id: "7", parents, endpoint: API, born: "2026-01-01T00:00:00Z" };
    const next = { ...place, born: "2026-01-01T00:00:01Z" };
    const owner = objectOf("Lan", "a", { spec: {}, status: { ...place, account: "shop/main" } });
    const { all, remove } = cluster(owner);
    expect(all.wasClaimed("Lan", place)).toBe(true);
    remove(objectOf("Lan", "a"));
    expect(all.wasClaimed("Lan", place)).toBe(true);
    expect(all.wasClaimed("Lan", next)).toBe(false);
  });

  test("an object that only observes claims nothing", () => {
    const spec = { ...serverSpec("dc"), managementPolicy: "Observe" };
    const { all } = cluster(server("a", { spec, status: { id: "s1" } }));
    expect(all.claimants("Server", { id: "s1", parents: {}, endpoint: API })).toEqual([]);
  });

  test("forgets all about an object that is gone", () => {
    const object = server("a", { status: { id: "s1", account: "shop/main" } });
    const { all, remove } = cluster(object, begun("b", "2026-01-01T00:00:00.000Z"));
    remove(object);
    remove(server("b"));
    expect(all.find("Server/shop/a")).toBeUndefined();
    expect(all.referrers("Datacenter/shop/dc")).toEqual([]);
    expect(all.claimants("Server", { id: "s1", parents: {}, endpoint: API })).toEqual([]);
    expect(all.users("shop/main")).toEqual([]);
    expect(all.rivals("Server", intentOf())).toEqual([]);
  });

  test("tells of every change, after the answers have changed", () => {
    const { all, put, remove } = cluster();
    const heard: unknown[] = [];
    all.subscribe((key, { before, after }) =>
      heard.push([key, !!before, !!after, all.claimants("Server", { id: "s1", parents: {}, endpoint: API }).length]),
    );
    put(server("a", { status: { id: "s1" } }));
    put(server("a", { status: { id: "s1", state: "AVAILABLE" } }));
    remove(server("a"));
    expect(heard).toEqual([
      ["Server/shop/a", false, true, 1],
      ["Server/shop/a", true, true, 1],
      ["Server/shop/a", true, false, 0],
    ]);
  });

  test("has no store for what is no kind", () => {
    const { all } = cluster();
    expect(() => all.store("Pod")).toThrow("there is no kind Pod");
    expect(all.find("Pod/shop/a")).toBeUndefined();
  });
});
