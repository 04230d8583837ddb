import { describe, expect, test } from "vitest";
import { obstacleTo, publish } from "../../../src/engine/secrets/publish.ts";
import { needsPerson } from "../../../src/engine/status/reasons.ts";
import { datacenter } from "../../../src/kinds/compute/datacenter.ts";
import { KubeError } from "../../../src/kube/client/errors.ts";
import { createClient } from "../../../src/kube/client/transport.ts";
import type { KubeObject, OwnerReference } from "../../../src/kube/resource.ts";
import { readOwned, type SecretContent } from "../../../src/kube/write/owned-secret.ts";
import { status } from "../../kube/objects.ts";
import { scriptedServer } from "../../kube/scripted-server.ts";
import { fakeApiServer } from "../support/fake-api-server.ts";
import { objectOf } from "../support/fixtures.ts";

const object = objectOf("Datacenter", "home");
const content: SecretContent = {
  name: "access",
  data: { key: "first", endpoint: "https://push.example.com" },
  annotations: { "mooring.dev/key-id": "k1" },
};
const base64 = (text: string) => Buffer.from(text).toString("base64");

const secret = (owner?: Partial<OwnerReference>, more: Partial<KubeObject["metadata"]> = {}): KubeObject => {
  const complete = { apiVersion: "mooring.dev/v1alpha1", kind: "Datacenter", name: "home", uid: "uid-home" };
  const ownerReferences = [{ ...complete, controller: true, ...owner }];
  return objectOf("Secret", "access", {
    apiVersion: "v1",
    metadata: { name: "access", ...(owner && { ownerReferences }), ...more },
    data: { key: base64("theirs") },
  });
};

function open(...initial: KubeObject[]) {
  const api = fakeApiServer(...initial);
  const deps = { client: api.client, guard: () => {} };
  const owner = { kind: datacenter, object };
  return {
    api,
    deps,
    publish: (more: Partial<SecretContent> = {}) => publish(deps, owner, { ...content, ...more }),
    stored: () => api.get(secret()),
    writes: () => api.calls.filter(({ method }) => method !== "GET").map(({ method }) => method),
  };
}

describe("a Secret for an object", () => {
  test("is made with what it holds, and belongs to the object", async () => {
    const { publish, stored } = open();
    expect(await publish()).toEqual({ outcome: "created" });
    expect(stored()).toMatchObject({
      kind: "Secret",
      type: "Opaque",
      metadata: {
        namespace: "shop",
        labels: {
          "app.kubernetes.io/managed-by": "mooring",
          "mooring.dev/kind": "Datacenter",
          "mooring.dev/name": "home",
        },
        annotations: { "mooring.dev/key-id": "k1" },
        ownerReferences: [
          { apiVersion: "mooring.dev/v1alpha1", kind: "Datacenter", name: "home", uid: "uid-home", controller: true },
        ],
      },
      data: { key: base64("first"), endpoint: base64("https://push.example.com") },
    });
  });

  test("is not written again while it is as it should be", async () => {
    const { publish, writes } = open();
    await publish();
    expect(await publish()).toEqual({ outcome: "unchanged" });
    expect(writes()).toEqual(["POST"]);
  });

  test("is changed in one write, on condition that nobody else has written", async () => {
    const { api, publish, stored, writes } = open();
    await publish();
    const { resourceVersion, uid } = stored()?.metadata ?? {};
    const data = { key: "second", other: "new" };
    expect(await publish({ data, annotations: { "mooring.dev/key-id": "k2" } })).toEqual({ outcome: "changed" });
    expect(writes()).toEqual(["POST", "PUT"]);
    expect(api.calls.at(-1)?.body).toMatchObject({ metadata: { resourceVersion, uid } });
    expect(stored()).toMatchObject({ metadata: { annotations: { "mooring.dev/key-id": "k2" } } });
    expect(stored()?.data).toEqual({ key: base64("second"), other: base64("new") });
  });

  test("keeps what others have put beside it, but not into it", async () => {
    const added = { labels: { team: "blue" }, annotations: { note: "mine" }, finalizers: ["other/guard"] };
    const { publish, stored } = open(secret({}, added));
    expect(await publish()).toEqual({ outcome: "changed" });
    expect(stored()?.metadata).toMatchObject({
      labels: { team: "blue", "mooring.dev/name": "home" },
      annotations: { note: "mine", "mooring.dev/key-id": "k1" },
      finalizers: ["other/guard"],
    });
    expect(stored()?.data).toEqual({ key: base64("first"), endpoint: base64("https://push.example.com") });
  });

  test("of a long name has a label that the API server takes", async () => {
    const { api, deps } = open();
    const long = objectOf("Datacenter", `${"a".repeat(62)}.b`);
    await publish(deps, { kind: datacenter, object: long }, content);
    expect(api.get(secret())?.metadata.labels?.["mooring.dev/name"]).toBe("a".repeat(62));
  });

  test("is not written by a process that may not write any more", async () => {
    const { deps, writes } = open();
    const guard = () => {
      throw new Error("the lease is lost");
    };
    await expect(publish({ ...deps, guard }, { kind: datacenter, object }, content)).rejects.toThrow("lease");
    expect(writes()).toEqual([]);
  });
});

describe("a Secret that somebody else writes at the same moment", () => {
  test("is judged anew when it appears before it could be made", async () => {
    const { api, publish, stored } = open();
    api.beforeEach(({ method }) => {
      if (method === "POST" && !stored()) api.put(secret());
    });
    expect(await publish()).toMatchObject({ outcome: "obstructed", obstacle: { reason: "SecretNotOwned" } });
    expect(stored()?.data).toEqual({ key: base64("theirs") });
  });

  test("is written as it should be when it is changed, or deleted, before it could be written", async () => {
    const { api, publish, stored, writes } = open(secret({}));
    const meddling = [() => api.put(secret({}, { labels: { team: "blue" } })), () => api.remove(secret())];
    api.beforeEach(({ method }) => {
      if (method === "PUT") meddling.shift()?.();
    });
    expect(await publish()).toEqual({ outcome: "created" });
    expect(writes()).toEqual(["PUT", "PUT", "POST"]);
    expect(stored()?.data).toMatchObject({ key: base64("first") });
  });

  test("again and again is left for a later pass", async () => {
    const { api, publish } = open(secret({}));
    api.beforeEach(({ method }) => {
      if (method === "PUT") api.put(secret({}));
    });
    await expect(publish()).rejects.toBeInstanceOf(KubeError);
  });
});

describe("a Secret that is not the object's own", () => {
  test.each([
    ["nobody's", secret(), "was not created for Datacenter home: change spec.secretName"],
    [
      "another object's",
      secret({ name: "other", uid: "uid-other" }),
      "belongs to Datacenter other: change spec.secretName",
    ],
    [
      "another kind's",
      secret({ kind: "Deployment", uid: "uid-other" }),
      "belongs to Deployment home: change spec.secretName",
    ],
    ["only garbage-collected with the object", secret({ controller: false }), "was not created for Datacenter home"],
  ])("because it is %s stays as it is, and the way out is named", async (_, theirs, message) => {
    const { publish, stored, writes, deps } = open(theirs);
    expect(await publish()).toEqual({
      outcome: "obstructed",
      obstacle: {
        reason: "SecretNotOwned",
        message: expect.stringContaining(`Secret access already exists and ${message}`),
      },
    });
    expect(writes()).toEqual([]);
    expect(stored()?.data).toEqual({ key: base64("theirs") });
    expect(await readOwned(deps.client, object, "access")).toBeUndefined();
  });

  test("but a former object's of the same name is waited for, and written when it is gone", async () => {
    const former = secret({ uid: "uid-before" });
    const { api, publish, writes } = open(former);
    const message = "Secret access belongs to a deleted Datacenter home: waiting until it is deleted too";
    expect(await publish()).toEqual({
      outcome: "obstructed",
      obstacle: { reason: "AwaitingGarbageCollection", message },
    });
    expect(needsPerson("AwaitingGarbageCollection")).toBe(false);
    expect(writes()).toEqual([]);
    api.remove(former);
    expect(await publish()).toEqual({ outcome: "created" });
  });
});

test("a published value can be read again, and others are absent", async () => {
  const { publish, deps } = open();
  expect(await readOwned(deps.client, object, "access")).toBeUndefined();
  await publish({ data: { key: "schlüssel" } });
  expect(await readOwned(deps.client, object, "access")).toEqual({
    data: { key: "schlüssel" },
    annotations: { "mooring.dev/key-id": "k1" },
  });
});

test("a Secret that the API server refuses to take waits for a person, with the reason", async () => {
  const { api, deps } = open();
  const owner = { kind: datacenter, object };
  api.beforeEach(({ method }) => {
    if (method === "POST") throw new KubeError({ status: 403, reason: "Forbidden", message: "exceeded quota" });
  });
  const message = "Secret access cannot be written: exceeded quota";
  expect(await obstacleTo(deps, owner, content)).toEqual({ reason: "SecretNotWritable", message });
  expect(needsPerson("SecretNotWritable")).toBe(true);
  api.beforeEach(() => {
    throw new KubeError({ status: 503, reason: "ServiceUnavailable", message: "no" });
  });
  await expect(obstacleTo(deps, owner, content)).rejects.toBeInstanceOf(KubeError);
});

test("a refusal that quotes the Secret says so without its content", async () => {
  await using cleanup = new AsyncDisposableStack();
  const server = cleanup.use(await scriptedServer());
  const client = createClient({ server: server.url });
  cleanup.defer(() => client.close());
  const refused = publish({ client, guard: () => {} }, { kind: datacenter, object }, content).then(
    () => undefined,
    (error: unknown) => error,
  );
  (await server.next()).json(404, status(404, "NotFound", "not found"));
  const { body, json } = await server.next();
  const causes = [{ field: "data[key]", message: `Invalid value: ${body}` }];
  json(422, status(422, "Invalid", `Secret is invalid: ${body}`, { causes }));
  const error = await refused;
  expect(error).toMatchObject({ message: "POST /api/v1/namespaces/shop/secrets: 422 Invalid: data[key]" });
  expect(JSON.stringify(error)).not.toMatch(/first|Zmlyc3/);
});
