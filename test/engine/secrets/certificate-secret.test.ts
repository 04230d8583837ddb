import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Pems } from "../../../src/certificates/inspect.ts";
import { RECONCILE_AT, ROTATE_AT } from "../../../src/engine/state/names.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { readOwned } from "../../../src/kube/write/owned-secret.ts";
import { accessOf, DAY_MS, issue } from "../../certificates/issue.ts";
import { kafkaSecretFiles } from "../../kafka-secret-files.ts";
import { objectOf, scriptedConnection } from "../support/fixtures.ts";
import { stage } from "../support/stage.ts";

const KEY = "KafkaUser/shop/reader";
const NAME = "reader-kafkauser";
const secret = objectOf("Secret", NAME, { apiVersion: "v1" });
const reader = (annotations: Record<string, string> = {}): KubeObject =>
  objectOf("KafkaUser", "reader", {
    spec: { clusterId: "72e73b81-8551-4e74-b398-fc63b39994af" },
    status: { id: "u1", parents: { cluster: "c1" }, account: "shop/main", contract: 1 },
    metadata: { name: "reader", annotations },
  });

const shownStatus = z.looseObject({
  certificate: z.looseObject({ version: z.number(), serial: z.string() }).optional(),
  advice: z.array(z.string()).optional(),
  conditions: z.array(z.looseObject({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() })),
});

/** A user of a cluster, and an operator that has claimed it. The test sets what the platform shows. */
async function open(first: Pems, object = reader(), api?: ReturnType<typeof stage>["api"]) {
  let pems = first;
  const cluster = { id: "c1", metadata: { brokerAddresses: ["10.0.0.1:9093", "10.0.0.2:9093"] }, properties: {} };
  const connection = scriptedConnection(({ url }) => {
    const path = new URL(url).pathname;
    const user = { id: "u1", metadata: { state: "AVAILABLE" }, properties: { name: "admin" } };
    if (path.endsWith("/users")) return { items: [user] };
    if (!path.endsWith("/access")) return cluster;
    const { ca, certificate, privateKey } = pems;
    return { ...user, metadata: { certificateAuthority: ca, certificate, privateKey } };
  });
  const all = stage([object], { connection, ...(api && { api }) });
  await all.pass(KEY);
  await all.clock.advance(0);
  /** A copy of an object that a person has read and edits. */
  const annotate = (annotations: Record<string, string>) => {
    const current = all.api.get(object);
    if (current) all.api.put({ ...current, metadata: { ...current.metadata, annotations } });
    all.sync();
  };
  return {
    ...all,
    annotate,
    offer: (next: Pems) => {
      pems = next;
    },
    published: async () => (await readOwned(all.deps.client, object, NAME))?.data,
    status: () => shownStatus.parse(all.api.get(object)?.status),
    writes: () => all.api.calls.filter(({ path, method }) => path.includes("/secrets") && method !== "GET"),
    asked: () => connection.calls.filter(({ url }) => url.endsWith("/access")).length,
  };
}

const ready = { type: "Ready", status: "True", reason: "Available" };

describe("a client certificate", () => {
  test("is in the Secret together with everything that clients ask for", async () => {
    const pems = await accessOf();
    const { passes, published, status, writes, events, api } = await open(pems);
    expect(await passes(KEY)).toEqual(["renew", "rest"]);
    const data = await published();
    expect(Object.keys(data ?? {}).toSorted()).toEqual(kafkaSecretFiles);
    expect(data).toMatchObject({ "ca.crt": pems.ca, "tls.crt": pems.certificate, "tls.key": pems.privateKey });
    expect(data?.["bootstrap.servers"]).toBe("10.0.0.1:9093,10.0.0.2:9093");
    expect(data?.["client.properties"]).toContain(`ssl.keystore.password=${data?.["store.password"]}\n`);
    expect(api.get(secret)?.metadata.labels).toMatchObject({ "mooring.dev/certificate-version": "1" });
    expect(writes()).toHaveLength(1);
    expect(status()).toMatchObject({
      secretName: NAME,
      certificate: { version: 1, expiresAt: "2026-12-31T00:00:00.000Z" },
      conditions: [ready],
    });
    expect(events).toEqual([expect.stringMatching(/^Normal CertificateIssued .*, expires 2026-12-31/)]);
  });

  test("that is there is not asked for again", async () => {
    const { passes, skip, asked, writes } = await open(await accessOf());
    await passes(KEY);
    skip(200 * DAY_MS);
    expect(await passes(KEY)).toEqual(["rest"]);
    expect([asked(), writes().length]).toEqual([1, 1]);
  });

  test("is in no status, no Event and no annotation", async () => {
    const pems = await accessOf();
    const { passes, events, api, published } = await open(pems);
    await passes(KEY);
    const shown = JSON.stringify([events, api.get(reader()), api.get(secret)?.metadata]);
    const password = (await published())?.["store.password"] ?? "";
    expect(password.length).toBeGreaterThanOrEqual(24);
    for (const word of [password, ...pems.privateKey.split("\n").slice(1, 3)]) expect(shown).not.toContain(word);
  });

  test("that has lost its Secret comes back as the one that it is", async () => {
    const pems = await accessOf();
    const before = await open(pems);
    await before.passes(KEY);
    before.api.remove(secret);
    const after = await open(pems, reader(), before.api);
    expect(await after.passes(KEY)).toEqual(["publish", "renew", "rest"]);
    expect(await after.published()).toMatchObject({ "tls.crt": pems.certificate });
    expect(after.status().certificate).toEqual(before.status().certificate);
  });

  test("of which somebody edits a file is fetched again, once, and an Event says why", async () => {
    const pems = await accessOf();
    const { passes, published, deps, api, events, status, asked, writes } = await open(pems);
    await passes(KEY);
    const edited = structuredClone(api.get(secret) ?? secret);
    edited.data = { ...Object(edited.data), "tls.key": Buffer.from("somebody's").toString("base64") };
    deps.published.put(api.put(edited));
    expect(await passes(KEY)).toEqual(["publish", "renew", "rest"]);
    expect(await published()).toMatchObject({ "tls.crt": pems.certificate, "tls.key": pems.privateKey });
    expect([asked(), writes().length]).toEqual([2, 2]);
    expect(status()).toMatchObject({ certificate: { version: 1 }, conditions: [ready] });
    expect(events.filter((each) => each.includes("SecretChanged"))).toEqual([
      expect.stringMatching(/^Warning SecretChanged Secret reader-kafkauser was changed: tls\.key .*fetched again$/),
    ]);
    expect(await passes(KEY)).toEqual(["rest"]);
  });

  test("stays when its Secret loses labels and note, which are put back without asking for it again", async () => {
    const { passes, published, deps, api, status, asked, writes } = await open(await accessOf());
    await passes(KEY);
    const before = await published();
    const bare = structuredClone(api.get(secret) ?? secret);
    bare.metadata.labels = {};
    bare.metadata.annotations = {};
    deps.published.put(api.put(bare));
    expect(await passes(KEY)).toEqual(["publish", "rest"]);
    expect(await published()).toEqual(before);
    expect(api.get(secret)?.metadata.labels).toMatchObject({ "mooring.dev/certificate-version": "1" });
    expect([asked(), writes().length]).toEqual([1, 2]);
    expect(status().conditions).toMatchObject([ready]);
  });

  test("does not go into a Secret that is not the object's own", async () => {
    const all = await open(await accessOf());
    all.api.put(objectOf("Secret", NAME, { apiVersion: "v1", data: { key: "dGhlaXJz" } }));
    await all.passes(KEY);
    expect(all.status().conditions).toMatchObject([{ status: "False", reason: "SecretNotOwned" }, { type: "Stalled" }]);
    expect(all.writes()).toEqual([]);
  });
});

describe("a client certificate of which two thirds are over", () => {
  async function aged() {
    const first = await accessOf();
    const all = await open(first);
    await all.passes(KEY);
    all.skip(243 * DAY_MS);
    return { ...all, first };
  }

  test("is replaced by a younger one in one write; the password stays", async () => {
    const { passes, offer, published, status, writes, first } = await aged();
    const password = (await published())?.["store.password"];
    const next = await accessOf({ from: 240, to: 605 });
    offer(next);
    expect(await passes(KEY)).toEqual(["renew", "rest"]);
    const data = await published();
    expect(data).toMatchObject({ "ca.crt": next.ca, "tls.crt": next.certificate, "store.password": password });
    expect(data?.["tls.crt"]).not.toBe(first.certificate);
    expect(writes().map(({ method }) => method)).toEqual(["POST", "PUT"]);
    expect(status()).toMatchObject({
      certificate: { version: 2, expiresAt: "2027-08-29T00:00:00.000Z" },
      conditions: [ready],
    });
  });

  test("stays while the platform has no younger one, says so, and is asked for from time to time", async () => {
    const { passes, pass, skip, offer, asked, status, writes } = await aged();
    expect(await passes(KEY)).toEqual(["renew", "rest"]);
    expect(status()).toMatchObject({ advice: [expect.stringContaining("no newer one yet")], conditions: [ready] });
    expect((await pass(KEY)).again).toMatchObject({ inMs: 300_000 });
    expect([asked(), writes().length]).toEqual([2, 1]);
    skip(DAY_MS);
    expect(await passes(KEY)).toEqual(["renew", "rest"]);
    expect(asked()).toBe(3);
    skip(DAY_MS);
    offer(await accessOf({ from: 240, to: 605 }));
    expect(await passes(KEY)).toEqual(["renew", "rest"]);
    expect(status()).toMatchObject({ certificate: { version: 2 } });
    expect(status().advice).toBeUndefined();
  });

  test.each([250, 10_000])(
    "by Date headers alone, %i days ahead, is renewed in time after honest ones",
    async (days) => {
      const { passes, skip, offer, accounts, status, published } = await open(await accessOf());
      await passes(KEY);
      const tell = (ahead: number) =>
        Reflect.set(accounts.get("shop/main")?.connection ?? {}, "aheadMs", ahead * DAY_MS);
      tell(days);
      await passes(KEY);
      tell(0);
      skip(DAY_MS);
      await passes(KEY);
      expect(status()).toMatchObject({ certificate: { version: 1 }, conditions: [ready] });
      const next = await accessOf({ from: 240, to: 605 });
      offer(next);
      skip(243 * DAY_MS);
      await passes(KEY);
      expect(status()).toMatchObject({ certificate: { version: 2 }, conditions: [ready] });
      expect(await published()).toMatchObject({ "tls.crt": next.certificate });
    },
  );

  test("does not give way to an older one", async () => {
    const { passes, offer, published, first } = await aged();
    offer(await accessOf({ from: -30, to: 300 }));
    await passes(KEY);
    expect(await published()).toMatchObject({ "tls.crt": first.certificate });
  });

  test("does not give way to one that nobody could use", async () => {
    const { passes, offer, published, status, writes, first } = await aged();
    const stranger = await issue({ name: "Other CA" });
    offer(await accessOf({ from: 240, to: 605, ca: stranger.certificate }));
    expect(await passes(KEY)).toEqual(["renew"]);
    expect(await published()).toMatchObject({ "tls.crt": first.certificate });
    expect(writes()).toHaveLength(1);
    expect(status().conditions).toMatchObject([{ type: "Ready", reason: "InvalidCertificate" }, { type: "Stalled" }]);
  });
});

describe("somebody who asks for a new certificate", () => {
  test("gets it", async () => {
    const { passes, annotate, offer, status, published, clock } = await open(await accessOf());
    await passes(KEY);
    const next = await accessOf({ to: 365 });
    offer(next);
    annotate({ [ROTATE_AT]: "now" });
    expect(await passes(KEY)).toEqual(["wait Observing"]);
    await clock.advance(2000);
    expect(await passes(KEY)).toEqual(["renew", "rest"]);
    expect(await published()).toMatchObject({ "tls.crt": next.certificate });
    expect(status().certificate?.version).toBe(2);
  });

  test("is reported once when the platform has none", async () => {
    const { passes, annotate, events, asked, status, clock } = await open(await accessOf());
    await passes(KEY);
    annotate({ [ROTATE_AT]: "now" });
    expect(await passes(KEY)).toEqual(["wait Observing"]);
    await clock.advance(2000);
    expect(await passes(KEY)).toEqual(["renew", "rest"]);
    expect(events.at(-1)).toContain("the platform has no newer one yet");
    expect(status().certificate?.version).toBe(1);
    annotate({ [ROTATE_AT]: "now", [RECONCILE_AT]: "again" });
    expect(await passes(KEY)).toEqual(["rest"]);
    expect(asked()).toBe(2);
  });
});

describe("a certificate that nobody could use", () => {
  test.each([
    [
      "that the CA has not signed",
      async () => accessOf({ ca: (await accessOf()).ca }),
      "it is not signed by the cluster's CA",
    ],
    [
      "with another key",
      async () => accessOf({ privateKey: (await accessOf()).privateKey }),
      "its private key does not match",
    ],
    ["that has ended", () => accessOf({ from: -400, to: -35 }), "it expired on 2025-11-27T00:00:00.000Z"],
    ["that is none", () => accessOf({ certificate: "" }), "the answer has none"],
  ])("%s is not published, and asked for again", async (_, made, problem) => {
    const bad = await made();
    const { pass, passes, clock, offer, writes, status, events } = await open(bad);
    expect((await pass(KEY)).again).toEqual({ inMs: 1000 });
    expect(writes()).toEqual([]);
    expect(status().conditions[0]).toMatchObject({
      status: "False",
      reason: "InvalidCertificate",
      message: `certificate of the KafkaUser not published: ${problem}`,
    });
    expect(JSON.stringify([events, status()])).not.toContain(bad.privateKey.split("\n")[1]);
    expect((await pass(KEY)).decision).toMatchObject({ step: "stall", reason: "InvalidCertificate" });
    offer(await accessOf());
    await clock.advance(1000);
    expect(await passes(KEY)).toEqual(["renew", "rest"]);
    expect(status().conditions).toMatchObject([ready]);
  });
});

test("a user is found by its name, and by its id where only that is said", async () => {
  const named = (spec: object) =>
    objectOf("KafkaUser", "reader", { spec: { clusterId: "72e73b81-8551-4e74-b398-fc63b39994af", ...spec } });
  for (const spec of [{}, { user: "admin" }, { managementPolicy: "Observe", externalId: "u1" }]) {
    const { passes, status } = await open(await accessOf(), named(spec));
    await passes(KEY);
    expect(status()).toMatchObject({ id: "u1" });
  }
  const { status } = await open(await accessOf(), named({ user: "other" }));
  expect(status().conditions).toMatchObject([{ reason: "NotAdoptable" }, { type: "Stalled" }]);
});
