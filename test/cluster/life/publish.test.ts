import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeOperatorKubeconfig } from "../../../src/cli/demo/install.ts";
import { publish } from "../../../src/engine/secrets/publish.ts";
import { resourceOf } from "../../../src/engine/state/object.ts";
import { datacenter } from "../../../src/kinds/compute/datacenter.ts";
import { connect } from "../../../src/kube/client/config.ts";
import { isNotFound } from "../../../src/kube/client/errors.ts";
import type { KubeClient } from "../../../src/kube/client/transport.ts";
import { type KubeObject, pathOf, SECRETS } from "../../../src/kube/resource.ts";
import { apply } from "../../../src/kube/write/apply.ts";
import { readOwned, type SecretContent } from "../../../src/kube/write/owned-secret.ts";
import { cluster, namespace } from "../harness.ts";

const cleanup = new AsyncDisposableStack();
let admin: KubeClient;
/** The operator's own ServiceAccount with the shipped rights. */
let client: KubeClient;
let home: string;

beforeAll(async () => {
  const { kubeconfig } = cluster();
  const folder = await mkdtemp(join(tmpdir(), "mooring-publish-"));
  cleanup.defer(() => rm(folder, { recursive: true }));
  admin = await connect({ kubeconfig });
  cleanup.defer(() => admin.close());
  await writeOperatorKubeconfig(admin, kubeconfig, join(folder, "kubeconfig"));
  client = await connect({ kubeconfig: join(folder, "kubeconfig") });
  cleanup.defer(() => client.close());
  home = await namespace("publish");
});
afterAll(() => cleanup.disposeAsync());

const pathTo = (name: string) => pathOf(SECRETS, { namespace: home, name });
const stored = async (name: string): Promise<KubeObject | undefined> =>
  admin.request<KubeObject>({ method: "GET", path: pathTo(name) }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });

async function made(name: string): Promise<KubeObject> {
  const spec = { location: "de/txl" };
  const object = { apiVersion: "mooring.dev/v1alpha1", kind: "Datacenter", metadata: { name, namespace: home }, spec };
  return apply(admin, resourceOf(datacenter), object, { fieldManager: "a-user" });
}

async function remove(name: string): Promise<void> {
  await admin.request({ method: "DELETE", path: pathOf(resourceOf(datacenter), { namespace: home, name }) });
}

const write = (object: KubeObject, content: SecretContent) =>
  publish({ client, guard: () => {} }, { kind: datacenter, object }, content);

/** The garbage collector discovers new kinds twice a minute. */
const collection = { timeout: 110_000 };

const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("a published Secret", () => {
  it("is written, left alone while it is right, changed as a whole, and read again", async () => {
    const object = await made("first");
    const before = {
      name: "first-access",
      data: { key: "k1", endpoint: "e1" },
      annotations: { "mooring.dev/id": "1" },
    };
    expect(await write(object, before)).toEqual({ outcome: "created" });
    const fresh = await stored("first-access");
    expect(fresh).toMatchObject({ type: "Opaque", data: { key: base64("k1"), endpoint: base64("e1") } });
    expect(await write(object, before)).toEqual({ outcome: "unchanged" });
    expect((await stored("first-access"))?.metadata.resourceVersion).toBe(fresh?.metadata.resourceVersion);
    const after = { name: "first-access", data: { key: "k2", region: "r2" }, annotations: { "mooring.dev/id": "2" } };
    expect(await write(object, after)).toEqual({ outcome: "changed" });
    expect((await stored("first-access"))?.data).toEqual({ key: base64("k2"), region: base64("r2") });
    expect(await write(object, after)).toEqual({ outcome: "unchanged" });
    expect(await readOwned(client, object, "first-access")).toEqual({
      data: { key: "k2", region: "r2" },
      annotations: { "mooring.dev/id": "2" },
    });
  });

  it("shows a reader the old keys or the new ones, never a mixture, while two writers compete", async () => {
    const object = await made("contested");
    const content = (n: number) => ({ name: "contested", data: { a: String(n), b: String(n), c: String(n) } });
    await write(object, content(0));
    const mixtures: unknown[] = [];
    let writing = true;
    const reading = (async () => {
      while (writing) {
        const { data = {} } = (await readOwned(client, object, "contested")) ?? {};
        if (new Set(Object.values(data)).size !== 1) mixtures.push(Object.keys(data));
      }
    })();
    for (let n = 1; n <= 20; n++) await Promise.all([write(object, content(n)), write(object, content(n))]);
    writing = false;
    await reading;
    expect(mixtures).toEqual([]);
    expect(await readOwned(client, object, "contested")).toMatchObject({ data: { a: "20", b: "20", c: "20" } });
  });

  it("of somebody else is neither changed, taken over nor removed with the object", async () => {
    const object = await made("unlucky");
    const theirs = { name: "theirs", namespace: home };
    const { metadata } = await apply(
      admin,
      SECRETS,
      { apiVersion: "v1", kind: "Secret", metadata: theirs, data: { key: base64("theirs") } },
      { fieldManager: "a-user" },
    );
    expect(await write(object, { name: "theirs", data: { key: "ours" } })).toMatchObject({
      outcome: "obstructed",
      obstacle: { reason: "SecretNotOwned" },
    });
    expect(await readOwned(client, object, "theirs")).toBeUndefined();
    expect(await write(object, { name: "ours", data: { key: "ours" } })).toEqual({ outcome: "created" });
    await remove("unlucky");
    await expect.poll(() => stored("ours"), collection).toBeUndefined();
    const left = await stored("theirs");
    expect(left?.data).toEqual({ key: base64("theirs") });
    expect(left?.metadata.resourceVersion).toBe(metadata.resourceVersion);
  });

  it("goes with its object, and a later object of the same name gets one of its own", async () => {
    const former = await made("phoenix");
    await write(former, { name: "phoenix", data: { key: "old" } });
    await remove("phoenix");
    const object = await made("phoenix");
    const publishing = () => write(object, { name: "phoenix", data: { key: "new" } });
    await expect.poll(publishing, collection).toEqual({ outcome: "created" });
    expect(await readOwned(client, former, "phoenix")).toBeUndefined();
    expect(await readOwned(client, object, "phoenix")).toMatchObject({ data: { key: "new" } });
  });

  it("with a key cannot be deleted by the operator: that is for the garbage collector alone", async () => {
    const object = await made("kept");
    await write(object, { name: "kept", data: { key: "k" } });
    const deleted = client.request({ method: "DELETE", path: pathTo("kept") });
    await expect(deleted).rejects.toMatchObject({ status: 422 });
  });
});
