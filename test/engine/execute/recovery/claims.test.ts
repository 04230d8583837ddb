import { describe, expect, test } from "vitest";
import { FINALIZER } from "../../../../src/engine/state/names.ts";
import { claimOf, openIntent } from "../../../../src/engine/state/object.ts";
import { readStatus } from "../../../../src/engine/status/status.ts";
import { ownership } from "../../../../src/engine/write/record.ts";
import { ipBlock } from "../../../../src/kinds/network/ipblock.ts";
import type { KubeObject } from "../../../../src/kube/resource.ts";
import { Retry } from "../../../../src/platform/answers/errors.ts";
import { API } from "../../support/fake-platform.ts";
import { annotated, datacenterSpec, handleOf, intending, intentOf, objectOf } from "../../support/fixtures.ts";
import { type Life, live, ownedBlock, readyOf } from "../../support/lives.ts";
import { stage } from "../../support/stage.ts";

const ELSEWHERE = "http://elsewhere.test";
const account = "shop/main";

test("nothing is created with the token of another user that came after the intent", async () => {
  const object = objectOf("Datacenter", "a", { spec: datacenterSpec });
  const life = stage([object]);
  const { connection } = life.accounts.get("shop/main") ?? {};
  if (!connection) throw new Error("there is no Account");
  const send = connection.send.bind(connection);
  connection.send = (call) => {
    if (call.method === "POST") Object.assign(connection, { identity: { userId: "u2" } });
    return send(call);
  };
  await life.pass("Datacenter/shop/a");
  expect(life.platform.log).toEqual([]);
  const after = life.api.get(object);
  expect(after && openIntent(after)).toBeUndefined();
});

test("a claim keeps its user when the token of the Account is exchanged while it is written", () => {
  const claim = { id: "dc-1", account: "shop/main", userId: "u1" };
  const object = objectOf("Datacenter", "a", { spec: datacenterSpec, status: claim });
  const life = stage([object]);
  const context = life.contextOf("Datacenter/shop/a");
  if (!context.account) throw new Error("there is no Account");
  const exchanged = { ...context.account, connection: { ...context.account.connection, identity: { userId: "u2" } } };
  expect(ownership({ ...context, account: exchanged }).userId).toBe("u1");
  expect(ownership({ ...context, account: { ...exchanged, acceptsUser: "u2" } }).userId).toBe("u2");
});

describe("a claim that its Account no longer leads to", () => {
  const CLAIMS: [string, Partial<KubeObject>][] = [
    ["in status", { status: { id: "dc-a-0", account, endpoint: ELSEWHERE } }],
    [
      "in the annotation",
      { metadata: annotated("a", { id: "dc-a-0", parents: {}, account, endpoint: ELSEWHERE }), status: {} },
    ],
    ["of an open intent", { metadata: intending("a", intentOf({ endpoint: ELSEWHERE })), status: {} }],
  ];
  test.each(CLAIMS)("%s is stalled, and neither forgotten nor looked for elsewhere", async (_, more) => {
    const life = ownedBlock(false, more);
    life.all.platform.items.clear();
    await live(life, 600);
    expect(life.all.platform.calls).toEqual([]);
    expect(readyOf(life)).toMatchObject({ status: "False", reason: "AccountMoved" });
    expect(readyOf(life)?.message).toContain(ELSEWHERE);
    const after = life.all.api.get(life.object) ?? life.object;
    expect((claimOf(after) ?? openIntent(after))?.endpoint).toBe(ELSEWHERE);
  });

  test.each(CLAIMS)("%s keeps a deleted object, until it is told to leave the resource there", async (_, more) => {
    const life = ownedBlock(true, more);
    const { all, object } = life;
    object.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    all.api.put({ ...object, metadata: { ...object.metadata, finalizers: [FINALIZER] } });
    life.all.platform.items.clear();
    await live(life, 600);
    expect(all.platform.calls).toEqual([]);
    expect(readyOf(life)).toMatchObject({ reason: "AccountMoved" });
    const stored = all.api.get(object) ?? object;
    const metadata = { ...stored.metadata, generation: 2 };
    all.api.put({ ...stored, metadata, spec: { ...Object(stored.spec), deletionPolicy: "Retain" } });
    await live(life, 5);
    expect(all.api.get(object)).toBeUndefined();
  });

  test("is on record with the id already: an Account that moves before the object is Ready loses nothing", async () => {
    const object = objectOf("IPBlock", "a", { spec: { location: "de/txl", size: 1 } });
    const all = stage([object]);
    const life: Life = { all, key: "IPBlock/shop/a", object, beforeEach: all.platform.beforeEach };
    await all.pass(life.key);
    expect(readStatus(all.api.get(object) ?? object)).toMatchObject({ id: "dc-a-0", endpoint: API });
    const handle = all.accounts.get(account);
    if (handle) all.accounts.put({ ...handle, endpoint: () => ELSEWHERE });
    await live(life, 300);
    expect(readyOf(life)).toMatchObject({ reason: "AccountMoved" });
    expect(all.platform.sent("POST")).toHaveLength(1);
  });

  test("says so while the answer to its creation is open, too", async () => {
    const object = objectOf("IPBlock", "a", { spec: { location: "de/txl", size: 1 } });
    const all = stage([object]);
    const life: Life = { all, key: "IPBlock/shop/a", object, beforeEach: all.platform.beforeEach };
    all.platform.afterEach(({ method }) => {
      if (method === "POST") throw new Retry({ call: "POST /ipblocks", status: 0 }, "unknown");
    });
    await all.pass(life.key);
    const handle = all.accounts.get(account);
    if (handle) all.accounts.put({ ...handle, endpoint: () => ELSEWHERE });
    await live(life, 300);
    expect(readyOf(life)).toMatchObject({ reason: "AccountMoved" });
    expect(all.platform.sent("POST")).toHaveLength(1);
  });
});

describe("the Account of an object", () => {
  const KEY = "IPBlock/team/a";
  const block = (more: Partial<KubeObject> = {}) => {
    const { metadata, ...rest } = more;
    const spec = { location: "de/txl", size: 1 };
    return objectOf("IPBlock", "a", { spec, metadata: { name: "a", namespace: "team", ...metadata }, ...rest });
  };
  const mine = objectOf("Account", "mine", { metadata: { name: "mine", namespace: "team" } });
  /** An object of a namespace without an Account: the default is a ClusterAccount. */
  const open = (object = block()) => {
    const all = stage([object]);
    return { all, object, key: KEY, beforeEach: all.platform.beforeEach };
  };

  test("is the default where the namespace never had one", async () => {
    const { all } = open();
    expect(all.contextOf(KEY).view.account.key).toBe("ClusterAccount/shared");
  });

  test("is not the default for who has waited for an Account of the namespace that is deleted", async () => {
    const life = open();
    const { all } = life;
    all.objects.store("Account").put(mine);
    await live(life, 3);
    all.objects.store("Account").remove({ ...mine, metadata: { ...mine.metadata, resourceVersion: "900000000" } });
    await live(life, 60);
    expect(all.platform.calls).toEqual([]);
    expect(readyOf(life)).toMatchObject({ reason: "AccountNotFound" });
  });

  test("is settled in status: the next process does not choose again", async () => {
    const life = open(block({ status: { account: "team/mine", observedGeneration: 1 } }));
    await live(life, 60);
    expect(life.all.platform.calls).toEqual([]);
    expect(readyOf(life)).toMatchObject({ reason: "AccountNotFound", message: "Account team/mine not found" });
  });

  test("is settled with the first word about the object", async () => {
    const object = block();
    const life = open(object);
    const { all } = life;
    const unauthorized = { reason: "Unauthorized", message: "bad token" } as const;
    all.objects.store("Account").put(mine);
    all.accounts.put(handleOf("team/mine", { obstacle: unauthorized }));
    await live(life, 3);
    expect(readStatus(all.api.get(object) ?? object)).toMatchObject({ account: "team/mine" });
  });

  test("changes with an edit of spec", () => {
    const named = block({ status: { account: "team/mine", observedGeneration: 1 } });
    named.metadata.generation = 2;
    const spec = { location: "de/txl", size: 1, accountRef: { name: "other" } };
    const { all } = open({ ...named, spec });
    all.objects.store("Account").put({ ...mine, metadata: { ...mine.metadata, name: "other" } });
    expect(all.contextOf(KEY).view.account.key).toBe("team/other");
  });

  test("is not the default for a namespace whose objects have used one of its own", () => {
    const { objects, accounts } = stage([]);
    objects.store("IPBlock").put(block({ status: { id: "b1", account: "team/mine" } }));
    const choice = accounts.choose({ kind: ipBlock, namespace: "team" }, undefined);
    expect(choice).toMatchObject({ obstacle: { reason: "AccountNotFound" } });
  });
});
