import { describe, expect, test } from "vitest";
import { FINALIZER } from "../../../../../src/engine/state/names.ts";
import { readyOf } from "../../../../../src/engine/status/status.ts";
import type { Connection, Reply } from "../../../../../src/platform/calls/transport.ts";
import { API, fakePlatform } from "../../../support/fake-platform.ts";
import { fakeTokens } from "../../../support/fake-tokens.ts";
import { objectOf } from "../../../support/fixtures.ts";
import { stage } from "../../../support/stage.ts";

const KEY = "IPBlock/shop/a";
const spec = { location: "de/txl", size: 1, name: "a" };
const body = { properties: { name: "a", location: "de/txl", size: 1 } };

/** A connection on which the first creation is answered with something else than it made. */
function lying(
  connection: Connection,
  isCreation: (url: string) => boolean,
  answer: (honest: unknown) => unknown,
): Connection {
  let lies = 1;
  return {
    ...connection,
    get identity() {
      return connection.identity;
    },
    async send(call): Promise<Reply> {
      const reply = await connection.send(call);
      const isMaking = call.method === "POST" || isCreation(call.url);
      return isMaking && lies-- > 0 ? { ...reply, body: answer(reply.body) } : reply;
    },
  };
}

async function minutes(all: ReturnType<typeof stage>, key: string, count: number) {
  for (let second = 0; second < count * 60; second += 5) {
    all.sync();
    if (!all.objects.find(key)) return;
    await all.passes(key);
    await all.clock.advance(5000);
  }
}

test("a datacenter that holds volumes of the same name names each of them", async () => {
  const platform = fakePlatform();
  const id = platform.make(
    "a",
    { properties: { name: "a", location: "de/txl" } },
    { path: "/datacenters", entities: {} },
  );
  for (const target of ["vol-1", "vol-2"])
    platform.make(target, { properties: { name: "data" } }, { path: `/datacenters/${id}/volumes`, targets: [target] });
  const object = objectOf("Datacenter", "a", {
    spec: { location: "de/txl" },
    metadata: { name: "a", finalizers: [FINALIZER], deletionTimestamp: "2026-01-01T00:00:00Z" },
    status: { id, account: "shop/main", contract: 1 },
  });
  const all = stage([object], { platform });
  platform.setClock(all.clock.now);
  await minutes(all, "Datacenter/shop/a", 1);
  const message = readyOf(all.api.get(object) ?? object)?.message;
  expect(message).toMatch(/^Datacenter still holds volumes data \(vol-1\), volumes data \(vol-2\)\. To keep/);
});

test("a datacenter is not deleted with a volume that only the list of volumes shows", async () => {
  const platform = fakePlatform();
  const inside = { properties: { name: "a", location: "de/txl" } };
  // Its own answer lies: nothing is inside.
  const id = platform.make("a", inside, { path: "/datacenters", entities: {} });
  platform.make("data", { properties: { name: "data" } }, { path: `/datacenters/${id}/volumes` });
  const object = objectOf("Datacenter", "a", {
    spec: { location: "de/txl" },
    metadata: { name: "a", finalizers: [FINALIZER], deletionTimestamp: "2026-01-01T00:00:00Z" },
    status: { id, account: "shop/main", contract: 1 },
  });
  const all = stage([object], { platform });
  platform.setClock(all.clock.now);
  await minutes(all, "Datacenter/shop/a", 1);
  expect(platform.sent("DELETE")).toEqual([]);
  expect(readyOf(all.api.get(object) ?? object)?.reason).toBe("NotEmpty");
});

describe("a resource inside another one", () => {
  const metadata = { name: "a", finalizers: [FINALIZER], deletionTimestamp: "2026-01-01T00:00:00Z" };
  const location = "de/txl";
  const connections = [{ datacenterId: "dc", lanId: "1", brokerAddresses: ["10.0.0.1/24"] }];
  const cluster = { name: "a", version: "3.9.0", size: "XS", connections };

  /** A deleted object whose resource holds one other, which some readings do not show. */
  function holding(kind: string, path: string, inside: string, isShown: (reading: number) => boolean) {
    const platform = fakePlatform();
    const properties = kind === "Datacenter" ? { name: "a", location } : cluster;
    const id = platform.make("a", { properties }, { path, entities: {} });
    platform.make("data", { properties: { name: "data" } }, { path: `${path}/${id}/${inside}`, targets: ["inside"] });
    let readings = 0;
    platform.beforeEach(({ method, url }) => {
      if (method !== "GET" || !url.includes(`/${inside}`)) return;
      platform.hideInLists(...(isShown(readings++) ? [] : ["inside"]));
    });
    const spec = kind === "Datacenter" ? { location } : { ...cluster, location };
    const parents = kind === "Datacenter" ? {} : { location: "de-txl" };
    const status = { id, account: "shop/main", contract: 1, parents };
    const object = objectOf(kind, "a", { spec, metadata, status });
    const honest = platform.connectionOf("shop/main");
    // The product of clusters has no version in its address here.
    const send: Connection["send"] = (call) =>
      honest.send({ ...call, url: call.url.replace(`${API}/clusters`, `${API}/streaming/v1/clusters`) });
    const all = stage([object], { platform, connection: { ...honest, send } });
    platform.setClock(all.clock.now);
    const reason = () => readyOf(all.api.get(object) ?? object)?.reason;
    return { all, platform, reason, readings: () => readings };
  }

  test.each([
    ["Datacenter", "/datacenters", "volumes"],
    ["KafkaCluster", "/clusters", "topics"],
  ])("is not deleted with its %s because one reading misses it", async (kind, path, inside) => {
    const every = holding(kind, path, inside, (reading) => reading % 2 === 1);
    await minutes(every.all, `${kind}/shop/a`, 2);
    expect(every.platform.sent("DELETE")).toEqual([]);
    expect(every.reason()).toBe("NotEmpty");

    const gone = holding(kind, path, inside, () => false);
    await minutes(gone.all, `${kind}/shop/a`, 1);
    expect(gone.platform.sent("DELETE")).toHaveLength(1);
    expect(gone.readings()).toBe(2);
  });
});

describe("an answer to a creation", () => {
  test.each([
    ["of another user", { user: "somebody" }, "a"],
    ["of another object", {}, "a"],
    ["of the same user that has another name", {}, "by-hand"],
  ])("is not believed when it names a resource %s, which outlives the object", async (what, more, name) => {
    const platform = fakePlatform();
    const made = { properties: { ...body.properties, name } };
    const [id] = [platform.make("x", made, { path: "/ipblocks", targets: ["by-hand"], ...more })];
    const isOwned = what.endsWith("object");
    const owner = objectOf("IPBlock", "owner", { spec, status: { id, account: "shop/main", contract: 1 } });
    const object = objectOf("IPBlock", "a", { spec });
    const read = { method: "GET", url: `${API}/cloudapi/v6/ipblocks/${id}`, product: "core" } as const;
    const connection = lying(
      platform.connectionOf("shop/main"),
      () => false,
      () => platform.execute(read),
    );
    const all = stage(isOwned ? [object, owner] : [object], { platform, connection });
    platform.setClock(all.clock.now);
    await minutes(all, KEY, 2);
    expect([...platform.items.keys()]).toHaveLength(2);
    const stored = all.api.get(object) ?? object;
    expect(Object(stored.status).id).toBe([...platform.items.keys()].find((each) => each !== id));
    all.api.put({ ...stored, metadata: { ...stored.metadata, deletionTimestamp: "2026-01-01T00:02:00Z" } });
    await minutes(all, KEY, 2);
    expect([...platform.items.keys()]).toEqual([id]);
  });

  test("is not believed when it names what another creation has made a moment before: each has its own", async () => {
    const platform = fakePlatform();
    const objects = ["a", "b"].map((name) => objectOf("IPBlock", name, { spec, metadata: { name } }));
    const honest = platform.connectionOf("shop/main");
    let first: Reply | undefined;
    const connection: Connection = {
      ...honest,
      get identity() {
        return honest.identity;
      },
      async send(call): Promise<Reply> {
        const reply = await honest.send(call);
        if (call.method !== "POST") return reply;
        first ??= reply;
        return platform.sent("POST").length === 2 ? { ...reply, body: first.body } : reply;
      },
    };
    const all = stage(objects, { platform, connection });
    platform.setClock(all.clock.now);
    all.sync();
    await Promise.all([all.passes(KEY), all.passes("IPBlock/shop/b")]);
    await minutes(all, KEY, 2);
    await minutes(all, "IPBlock/shop/b", 2);
    const ids = objects.map((object) => Object(all.api.get(object)?.status).id);
    expect(new Set(ids)).toEqual(new Set(platform.items.keys()));
    expect(platform.items.size).toBe(2);
  });

  test("is not believed when it is a token of another user, which no Secret gets", async () => {
    let now = () => Date.UTC(2026, 0, 1);
    const [platform, others] = [fakeTokens(() => now()), fakeTokens(() => now())];
    platform.connection.setCredentials({ token: platform.make(86_400) });
    for (let nth = 0; nth < 9; nth++) others.make(3600);
    const [head, claims, signature] = others.values.at(-1)?.split(".") ?? [];
    const foreign = Buffer.from(claims ?? "", "base64url")
      .toString()
      .replace('"u1"', '"somebody"');
    const token = [head, Buffer.from(foreign).toString("base64url"), `${signature}-of-somebody`].join(".");
    const object = objectOf("AccessToken", "a", { spec: { lifetime: "1h" } });
    const connection = lying(
      platform.connection,
      (url) => url.includes("/generate"),
      () => ({ token }),
    );
    const all = stage([object], { connection });
    now = all.clock.now;
    await minutes(all, "AccessToken/shop/a", 3);
    const { id } = Object(all.api.get(object)?.status);
    expect(platform.items.has(id)).toBe(true);
    const written = JSON.stringify(all.api.calls.map(({ body: sent }) => sent));
    expect(written).toContain(Buffer.from(platform.values.at(-1) ?? "").toString("base64"));
    expect(written).not.toContain(Buffer.from(token).toString("base64"));
  });

  test("is not believed when it is the token that the Account itself uses, which stays valid", async () => {
    let now = () => Date.UTC(2026, 0, 1);
    const platform = fakeTokens(() => now());
    const own = platform.make(86_400);
    platform.connection.setCredentials({ token: own });
    const object = objectOf("AccessToken", "a", { spec: { lifetime: "1h" } });
    const connection = lying(
      platform.connection,
      (url) => url.includes("/generate"),
      () => ({ token: own }),
    );
    const all = stage([object], { connection });
    now = all.clock.now;
    await minutes(all, "AccessToken/shop/a", 3);
    const stored = all.api.get(object) ?? object;
    expect(platform.isGood(own)).toBe(true);
    expect(Object(stored.status).id).not.toBe([...platform.items.keys()][0]);
    all.api.put({ ...stored, metadata: { ...stored.metadata, deletionTimestamp: "2026-01-01T00:02:00Z" } });
    await minutes(all, "AccessToken/shop/a", 3);
    expect(platform.isGood(own)).toBe(true);
  });
});
