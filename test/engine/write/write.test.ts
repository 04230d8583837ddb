import { describe, expect, test } from "vitest";
import { EXTERNAL_ID, FINALIZER, INTENT } from "../../../src/engine/state/names.ts";
import { claimOf } from "../../../src/engine/state/object.ts";
import { createSignatures } from "../../../src/engine/state/signatures.ts";
import { conditions, readStatus } from "../../../src/engine/status/status.ts";
import { fetchObject, release, writeMetadata, writeStatus } from "../../../src/engine/write/write.ts";
import { datacenter } from "../../../src/kinds/compute/datacenter.ts";
import { isConflict, KubeError } from "../../../src/kube/client/errors.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { API, datacenterSpec, intentOf, objectOf } from "../support/fixtures.ts";
import { stage } from "../support/stage.ts";

const dc = (metadata: Partial<KubeObject["metadata"]> = {}, status?: object) =>
  objectOf("Datacenter", "a", { spec: datacenterSpec, metadata: { name: "a", ...metadata }, status });

function open(object: KubeObject) {
  const { deps, api, objects } = stage([object]);
  const current = () => objects.find("Datacenter/shop/a")?.object ?? object;
  return { deps, api, current };
}
const intent = intentOf();
const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };

describe("a write of metadata", () => {
  test("puts the finalizer and the annotation there, and is read at once", async () => {
    const { deps, api, current } = open(dc({ annotations: { team: "x" } }));
    await writeMetadata(deps, datacenter, current(), { intent });
    expect(api.get(current())?.metadata.annotations).toEqual({ team: "x", [INTENT]: JSON.stringify(intent) });
    // Values of others are not kept.
    expect(current().metadata.finalizers).toEqual([FINALIZER]);
    expect(current().metadata.annotations).toEqual({ [INTENT]: JSON.stringify(intent) });
    expect(api.calls).toHaveLength(1);
  });

  test("erases our annotations that came with the object, which an apply would leave", async () => {
    const restored = dc({ annotations: { team: "x", [INTENT]: "old", [EXTERNAL_ID]: "older" } });
    const { deps, api, current } = open(restored);
    await writeMetadata(deps, datacenter, current(), { intent });
    expect(api.get(restored)?.metadata.annotations).toEqual({ team: "x", [INTENT]: JSON.stringify(intent) });
    expect(current().metadata.annotations).toEqual({ [INTENT]: JSON.stringify(intent) });
    expect(api.calls.map(({ contentType }) => contentType)).toEqual([
      "application/apply-patch+yaml",
      "application/merge-patch+json",
    ]);
  });

  test("fails when somebody wrote first, and changes nothing", async () => {
    const { deps, api, current } = open(dc());
    const known = current();
    api.put(dc({ annotations: { team: "x" } }));
    const writing = writeMetadata(deps, datacenter, known, { intent });
    await expect(writing).rejects.toSatisfy(isConflict);
    expect(api.get(known)?.metadata.annotations).toEqual({ team: "x" });
  });

  test("never reaches a successor of the same name", async () => {
    const { deps, api, current } = open(dc());
    api.put(dc({ uid: "another" }));
    await expect(writeMetadata(deps, datacenter, current(), {})).rejects.toSatisfy(isConflict);
    expect(await fetchObject(deps, datacenter, current())).toBeUndefined();
  });
});

describe("letting an object go", () => {
  test("takes away finalizer and annotations also when another manager owns them", async () => {
    const restored = dc({
      ...deleted,
      finalizers: [FINALIZER, "other/guard"],
      annotations: { team: "x", [INTENT]: "i", [EXTERNAL_ID]: "e" },
    });
    const { deps, api, current } = open(restored);
    await release(deps, datacenter, current());
    expect(api.get(restored)?.metadata).toMatchObject({ finalizers: ["other/guard"], annotations: { team: "x" } });
    expect(api.get(restored)?.metadata.annotations).toEqual({ team: "x" });
  });

  test("leaves the finalizers of others, however many there are", async () => {
    const others = Array.from({ length: 50 }, (_, nth) => `other/guard-${nth}`);
    const { deps, api, current } = open(dc({ ...deleted, finalizers: [...others, FINALIZER] }));
    expect(current().metadata.finalizers).toHaveLength(2);
    await release(deps, datacenter, current());
    expect(api.get(current())?.metadata.finalizers).toEqual(others);
  });

  test("lets the last one go, and one that is gone already is fine", async () => {
    const { deps, api, current } = open(dc({ ...deleted, finalizers: [FINALIZER] }));
    await release(deps, datacenter, current());
    expect(api.get(current())).toBeUndefined();
    await release(deps, datacenter, current());
  });

  test("knows at once that it is gone, without waiting for the watch: nobody lets go of it again", async () => {
    const { deps, current } = open(dc({ ...deleted, finalizers: [FINALIZER] }));
    await release(deps, datacenter, current());
    expect(deps.objects.find("Datacenter/shop/a")).toBeUndefined();
  });

  test("leaves a finalizer that was added meanwhile, and tries again", async () => {
    const { deps, api, current } = open(dc({ ...deleted, finalizers: [FINALIZER] }));
    api.put(dc({ ...deleted, finalizers: [FINALIZER, "other/guard"] }));
    await expect(release(deps, datacenter, current())).rejects.toSatisfy(isConflict);
    // The fresh object is known from here on.
    await release(deps, datacenter, current());
    expect(api.get(current())?.metadata.finalizers).toEqual(["other/guard"]);
  });

  test("does not touch a successor of the same name", async () => {
    const { deps, api, current } = open(dc({ ...deleted, finalizers: [FINALIZER] }));
    api.put(dc({ uid: "another", finalizers: [FINALIZER] }));
    await release(deps, datacenter, current());
    expect(api.get(current())?.metadata.finalizers).toEqual([FINALIZER]);
  });
});

describe("a write of status", () => {
  test("is left out when it would change nothing", async () => {
    const { deps, api, current } = open(dc({}, { id: "d1" }));
    expect(await writeStatus(deps, datacenter, current(), { id: "d1", endpoint: API, state: undefined })).toBe(
      current(),
    );
    expect(api.calls).toEqual([]);
    await writeStatus(deps, datacenter, current(), { id: "d2" });
    expect(current().status).toEqual({ id: "d2" });
  });

  test("keeps what is the operator's own business out of the way", async () => {
    const { deps, current } = open(dc());
    await writeStatus(deps, datacenter, current(), {
      id: "d1",
      nonce: "n1",
      fixed: { location: "h" },
      left: undefined,
    });
    expect(current().status).toEqual({ id: "d1", internal: { nonce: "n1", fixed: { location: "h" } } });
    expect(readStatus(current())).toEqual({ id: "d1", nonce: "n1", fixed: { location: "h" } });
  });

  test("moves what stood elsewhere before, and does not happen for that alone", async () => {
    const seal = createSignatures({ keys: () => ["one"] });
    const claim = { id: "d1", parents: {}, account: "shop/main", nonce: "n1", fixed: { location: "h" } };
    const before = dc();
    const { deps, api, objects } = stage([{ ...before, status: seal.signed("Datacenter", before, claim) }], { seal });
    const current = () => objects.find("Datacenter/shop/a")?.object ?? before;
    expect(claimOf(current())?.id).toBe("d1");
    await writeStatus(deps, datacenter, current(), claim);
    expect(api.calls).toEqual([]);
    await writeStatus(deps, datacenter, current(), { ...claim, state: "BUSY" });
    const { internal, ...shown } = Object(api.get(before)?.status);
    expect(shown).toEqual({ id: "d1", parents: {}, account: "shop/main", state: "BUSY" });
    expect(internal).toEqual({ nonce: "n1", fixed: { location: "h" }, signature: expect.any(String) });
    expect(claimOf(current())?.id).toBe("d1");
    expect(api.calls).toHaveLength(1);
  });

  test("fails where the API server drops what the operator has to keep: its CRD is an older one", async () => {
    const seal = createSignatures({ keys: () => ["one"] });
    const { deps } = stage([dc()], { seal });
    const pruned = JSON.stringify({ ...dc(), status: { id: "d1" } });
    const client = { ...deps.client, request: async () => JSON.parse(pruned) };
    await expect(writeStatus({ ...deps, client }, datacenter, dc(), { id: "d1" })).rejects.toThrow("apply crds/");
  });
});

describe("a change of the Ready reason", () => {
  test("is one line, and a status that says the same once more is none", async () => {
    const { deps, current } = open(dc());
    const lines: object[] = [];
    deps.log.info = (fields, message) => void lines.push({ message, ...fields });
    const condition = (reason: "Creating" | "Available", message: string) => ({
      request: { action: "create", status: "BUSY", id: "r-1", since: "2026-01-01T00:00:00.000Z" },
      conditions: conditions(current(), 0, { mode: "reconciling", reason, message }),
    });
    await writeStatus(deps, datacenter, current(), condition("Creating", "being made"));
    await writeStatus(deps, datacenter, current(), condition("Creating", "still being made"));
    await writeStatus(deps, datacenter, current(), condition("Creating", "still being made"));
    await writeStatus(deps, datacenter, current(), { ...condition("Available", "up to date"), request: undefined });
    const object = "Datacenter/shop/a";
    expect(lines).toEqual([
      { object, ready: "False", reason: "Creating", message: "being made", platformRequest: "r-1" },
      { object, ready: "False", reason: "Available", message: "up to date" },
    ]);
  });
});

describe("an object that the API server refuses to write", () => {
  const refused = (status: number, message: string) =>
    new KubeError({ status, reason: "X", message: `PUT /x: ${message}` });
  const failing = (error: KubeError) => {
    const all = stage([dc()]);
    const client = { ...all.deps.client, request: () => Promise.reject(error) };
    return { ...all, deps: { ...all.deps, client }, object: all.objects.find("Datacenter/shop/a")?.object ?? dc() };
  };
  const condition = { mode: "reconciling", reason: "Creating", message: "m" } as const;

  test.each([
    refused(500, "500 InternalError: etcdserver: request is too large"),
    refused(413, "413 RequestEntityTooLarge: limit is 3145728"),
    refused(403, "403 Forbidden: denied by a policy"),
    refused(422, "422 Invalid: status.x: too long"),
  ])("says so in an Event, because it has no other place: $message", async (error) => {
    const { deps, object, events } = failing(error);
    const status = { conditions: conditions(object, 0, condition) };
    const same = { status: error.status, message: error.message };
    await expect(writeStatus(deps, datacenter, object, status)).rejects.toMatchObject(same);
    await expect(writeMetadata(deps, datacenter, object, { intent })).rejects.toMatchObject(same);
    const reported = expect.stringContaining(
      `Warning ObjectNotWritable the API server refuses this object: ${error.message}`,
    );
    expect(events).toEqual([reported, reported]);
  });

  test("because it is too large names the way out", async () => {
    const { deps, object, events } = failing(refused(500, "500 InternalError: etcdserver: request is too large"));
    await expect(writeMetadata(deps, datacenter, object, { intent })).rejects.toThrow();
    expect(events[0]).toMatch(/make spec and annotations smaller$/);
  });

  test.each([
    refused(409, "409 Conflict"),
    refused(404, "404 NotFound"),
    refused(429, "429 TooManyRequests"),
    refused(500, "500 InternalError: etcdserver: leader changed"),
    refused(0, "Timeout"),
  ])("says nothing where the next attempt may succeed: $message", async (error) => {
    const { deps, object, events } = failing(error);
    await expect(writeMetadata(deps, datacenter, object, { intent })).rejects.toBe(error);
    expect(events).toEqual([]);
  });
});
