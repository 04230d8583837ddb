import { afterEach, describe, expect, test } from "vitest";
import { PUBLISHED } from "../../../src/engine/state/names.ts";
import { createPublications, type Publications } from "../../../src/engine/state/published.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { fakeClock } from "../../fake-clock.ts";
import { fakeApiServer } from "../support/fake-api-server.ts";
import { objectOf } from "../support/fixtures.ts";
import { unsealed } from "../support/unsigned.ts";

const owner = objectOf("MetricPipeline", "a");
const KEY = { issuedAt: "2026-01-01T00:00:00.000Z", fingerprint: "f" };

/** A Secret of the owner with its nth key. */
function secret(nth: number, resourceVersion: string, uid = owner.metadata.uid ?? ""): KubeObject {
  const note = { resource: "mp-1", nonce: `n${nth}`, content: "c", key: { ...KEY, version: nth }, rotated: "" };
  const of = { apiVersion: owner.apiVersion, kind: owner.kind, name: "a", uid, controller: true };
  const metadata = { name: "s", ownerReferences: [of], annotations: { [PUBLISHED]: JSON.stringify(note) } };
  const made = objectOf("Secret", "s", { apiVersion: "v1", metadata });
  return { ...made, metadata: { ...made.metadata, resourceVersion } };
}

const opened: Publications[] = [];
afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));

/** The Secrets of an API server that was just listed, and their watch. */
async function open(...listed: KubeObject[]) {
  const api = fakeApiServer();
  const clock = fakeClock();
  const woken: string[] = [];
  const wake = (key: string) => void woken.push(key);
  const published = createPublications({ seal: unsealed, client: api.client, clock, wake, onError: () => {} });
  opened.push(published);
  expect(published.find(owner, "s")).toMatchObject({ known: false, note: undefined });
  const synced = published.sync();
  await clock.advance(0);
  const happen = async (type: string, object: unknown) => {
    api.streams[0]?.send(type, object);
    await clock.advance(0);
  };
  for (const each of listed) await happen("ADDED", each);
  const annotations = { "k8s.io/initial-events-end": "true" };
  for (const { send } of api.streams) send("BOOKMARK", { metadata: { resourceVersion: "100", annotations } });
  await clock.advance(0);
  await synced;
  const versionOf = (object = owner) => published.find(object, "s").note?.key.version;
  return { published, happen, woken, versionOf, api };
}

describe("a published Secret", () => {
  test("is known by what it says about itself, to the object that it belongs to", async () => {
    const { published, versionOf } = await open(secret(1, "50"));
    expect(published.find(owner, "s")).toMatchObject({ known: true, note: { resource: "mp-1", nonce: "n1" } });
    expect(versionOf(objectOf("MetricPipeline", "b"))).toBeUndefined();
    expect(published.find(owner, "other")).toMatchObject({ known: true, note: undefined });
  });

  test("of a former object of the same name says nothing to a later object of the same name", async () => {
    const { versionOf } = await open(secret(1, "50", "uid-of-the-former"));
    expect(versionOf()).toBeUndefined();
  });

  test("that somebody deletes is missed at once, and its object hears of it", async () => {
    const { happen, woken, versionOf } = await open(secret(1, "50"));
    woken.length = 0;
    await happen("DELETED", secret(1, "101"));
    expect(versionOf()).toBeUndefined();
    expect(woken).toEqual(["MetricPipeline/shop/a"]);
  });

  test("that was just written is believed before the watch tells, and no late news undo it", async () => {
    const { published, happen, versionOf } = await open(secret(1, "50"));
    published.put(secret(3, "103"));
    expect(versionOf()).toBe(3);
    await happen("MODIFIED", secret(2, "102"));
    expect(versionOf()).toBe(3);
    await happen("MODIFIED", secret(4, "104"));
    expect(versionOf()).toBe(4);
  });

  test("of a namespace with too many are read by their names", async () => {
    const crowded: string[] = [];
    const api = fakeApiServer();
    const clock = fakeClock();
    const published = createPublications({
      seal: unsealed,
      client: api.client,
      clock,
      wake() {},
      onError: () => {},
      limit: () => 2,
      crowded: (kind, namespace) => void crowded.push(`${kind} ${namespace}`),
    });
    opened.push(published);
    const synced = published.sync();
    await clock.advance(0);
    const forged = (name: string) => {
      const { metadata, ...rest } = secret(1, "50", "uid-of-nobody");
      return { ...rest, metadata: { ...metadata, name } };
    };
    for (const name of ["a", "b", "c"]) api.streams[0]?.send("ADDED", forged(name));
    api.streams[0]?.send("ADDED", secret(1, "51"));
    const annotations = { "k8s.io/initial-events-end": "true" };
    for (const { send } of api.streams) send("BOOKMARK", { metadata: { resourceVersion: "100", annotations } });
    await clock.advance(0);
    await synced;
    expect(crowded).toEqual(["Secret shop"]);
    expect(published.find(owner, "s")).toMatchObject({ secret: undefined, readAt: undefined });
    api.put(secret(1, "51"));
    await published.read(owner, "s");
    expect(published.find(owner, "s")).toMatchObject({ note: { nonce: "n1" }, secret: { isNoted: true } });
    // Writes of this process are known as well.
    published.put(secret(2, "2000"));
    expect(published.find(owner, "s")).toMatchObject({ note: { nonce: "n2" } });
  });

  test("that has lost its label is found by a read of its name", async () => {
    const { published, happen, api, versionOf } = await open(secret(1, "50"));
    const relabelled = api.put(secret(1, "101"));
    await happen("DELETED", relabelled);
    expect(published.find(owner, "s")).toMatchObject({ note: undefined, secret: undefined, readAt: undefined });
    await published.read(owner, "s");
    expect(versionOf()).toBe(1);
    api.remove(relabelled);
    await published.read(owner, "s");
    expect(published.find(owner, "s")).toMatchObject({ secret: undefined, readAt: expect.any(Number) });
  });

  test("that the watch shows while a read of its name is under way is not taken for missing", async () => {
    const { published, happen, api, versionOf } = await open();
    const reading = published.read(owner, "s");
    await happen("ADDED", api.put(secret(1, "101")));
    await reading;
    expect(versionOf()).toBe(1);
  });

  test("is kept as fingerprints, never as it is", async () => {
    const { published } = await open({ ...secret(1, "50"), data: { key: Buffer.from("the key").toString("base64") } });
    const found = published.find(owner, "s");
    expect(found.secret?.entries).toEqual({ key: expect.stringMatching(/^[0-9a-f]{12}$/) });
    expect(JSON.stringify(found)).not.toContain(Buffer.from("the key").toString("base64"));
  });

  test.each(["{", "{}", '{"resource":"mp-1"}'])(
    "whose note somebody has spoilt (%s) counts as absent",
    async (text) => {
      const spoilt = secret(1, "50");
      spoilt.metadata.annotations = { [PUBLISHED]: text };
      expect((await open(spoilt)).versionOf()).toBeUndefined();
    },
  );
});
