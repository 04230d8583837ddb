import { describe, expect, test } from "vitest";
import { accessOf, DAY_MS } from "../../certificates/issue.ts";
import { kafkaSecretFiles } from "../../kafka-secret-files.ts";
import { objectOf } from "../support/fixtures.ts";
import { KEY, NAME, open, reader, ready, secret } from "./certificate-world.ts";

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
