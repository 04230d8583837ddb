import { afterEach, describe, expect, test } from "vitest";
import { type CredentialSecrets, createCredentialSecrets } from "../../src/engine/accounts/credential-secrets.ts";
import { FINALIZER } from "../../src/engine/objects/names.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { fakeClock } from "../fake-clock.ts";
import { fakeApiServer } from "./fake-api-server.ts";
import { objectOf } from "./fixtures.ts";

const secret = (name: string, token: string, metadata: Partial<KubeObject["metadata"]> = {}): KubeObject =>
  objectOf("Secret", name, {
    apiVersion: "v1",
    metadata: { name, ...metadata },
    data: { token: Buffer.from(token).toString("base64") },
  });

const opened: CredentialSecrets[] = [];
afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));

function open(...initial: KubeObject[]) {
  const clock = fakeClock();
  const api = fakeApiServer(...initial);
  const woken: string[] = [];
  const errors: unknown[] = [];
  const secrets = createCredentialSecrets({
    client: api.client,
    clock,
    wake: (account) => woken.push(account),
    onError: (error) => errors.push(error),
  });
  opened.push(secrets);
  const settle = () => clock.advance(0);
  /** Reads on behalf of an Account, and lets the watch that this begins see what is there. */
  async function watch(account: string, name: string) {
    const before = api.streams.length;
    secrets.read(account, "shop", name, "token");
    await settle();
    for (const { call, send } of api.streams.slice(before)) {
      const stored = initial.map((each) => api.get(each)).find((each) => each?.metadata.name === name);
      expect(call.query).toMatchObject({ fieldSelector: `metadata.name=${name}` });
      if (stored) send("ADDED", stored);
      const annotations = { "k8s.io/initial-events-end": "true" };
      send("BOOKMARK", { metadata: { resourceVersion: "2000", annotations } });
    }
    await settle();
    return secrets.read(account, "shop", name, "token");
  }
  return { api, secrets, woken, errors, watch, settle };
}

describe("the Secret of an Account", () => {
  test("is not known before it was looked for; then its value is, and the Account hears of it", async () => {
    const { secrets, watch, woken } = open(secret("cred", "t1"));
    expect(await watch("shop/main", "cred")).toEqual({ known: true, value: "t1" });
    expect(woken).toContain("shop/main");
    expect(secrets.read("shop/second", "shop", "cred", "token")).toEqual({ known: false, value: undefined });
    expect(await watch("shop/third", "missing")).toEqual({ known: true, value: undefined });
  });

  test("is watched by its name alone, and a change of it wakes the Account", async () => {
    const { api, watch, woken, settle, secrets } = open(secret("cred", "t1"));
    expect(await watch("shop/main", "cred")).toEqual({ known: true, value: "t1" });
    woken.length = 0;
    const metadata = { ...secret("cred", "t2").metadata, resourceVersion: "3000" };
    api.streams[0]?.send("MODIFIED", { ...secret("cred", "t2"), metadata });
    await settle();
    expect(woken).toEqual(["shop/main"]);
    expect(secrets.read("shop/main", "shop", "cred", "token").value).toBe("t2");
  });

  test("is kept by a finalizer, and nothing else of it is written", async () => {
    const object = secret("cred", "t1", { finalizers: ["other/guard"] });
    const { api, secrets, watch } = open(object);
    await watch("shop/main", "cred");
    await secrets.hold("shop/main");
    expect(api.get(object)?.metadata.finalizers).toEqual(["other/guard", FINALIZER]);
    const [written, ...more] = api.calls.filter(({ method }) => method === "PATCH");
    expect(more).toEqual([]);
    expect(Object.keys(Object(written?.body))).toEqual(["apiVersion", "kind", "metadata"]);
    await secrets.hold("shop/main");
    expect(api.calls.filter(({ method }) => method === "PATCH")).toHaveLength(1);
  });

  test("takes no finalizer when it is on its way out, or gone", async () => {
    const leaving = secret("cred", "t1", { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["other/guard"] });
    const { api, secrets, watch } = open(leaving);
    await watch("shop/main", "cred");
    await secrets.hold("shop/main");
    expect(api.calls.filter(({ method }) => method === "PATCH")).toEqual([]);
    const { api: empty, secrets: others, watch: begin } = open(secret("cred", "t1"));
    await begin("shop/main", "cred");
    empty.remove(secret("cred", "t1"));
    await others.hold("shop/main");
  });

  test("is let go with its Account, also when the finalizer came out of a backup", async () => {
    const object = secret("cred", "t1", { finalizers: ["other/guard", FINALIZER] });
    const { api, secrets, watch } = open(object);
    await watch("shop/main", "cred");
    await secrets.release("shop/main");
    expect(api.get(object)?.metadata.finalizers).toEqual(["other/guard"]);
    expect(api.streams[0]?.call.signal?.aborted).toBe(true);
  });

  test("is let go although somebody writes to it at the same moment", async () => {
    const object = secret("cred", "t1", { finalizers: [FINALIZER] });
    const { api, secrets, watch } = open(object);
    await watch("shop/main", "cred");
    api.put(secret("cred", "t2", { finalizers: [FINALIZER, "other/guard"] }));
    await secrets.release("shop/main");
    expect(api.get(object)?.metadata.finalizers).toEqual(["other/guard"]);
  });

  test("stays for as long as another Account needs it", async () => {
    const object = secret("cred", "t1", { finalizers: [FINALIZER] });
    const { api, secrets, watch } = open(object);
    await watch("shop/main", "cred");
    await watch("shop/second", "cred");
    await secrets.release("shop/main");
    expect(api.get(object)?.metadata.finalizers).toEqual([FINALIZER]);
    await secrets.release("shop/second");
    expect(api.get(object)?.metadata.finalizers).toEqual([]);
  });

  test("is let go when the Account names another one", async () => {
    const [before, after] = [secret("cred", "t1", { finalizers: [FINALIZER] }), secret("new", "t2")];
    const { api, watch, settle, errors } = open(before, after);
    await watch("shop/main", "cred");
    expect(await watch("shop/main", "new")).toEqual({ known: true, value: "t2" });
    await settle();
    expect(api.get(before)?.metadata.finalizers).toEqual([]);
    expect(errors).toEqual([]);
  });
});
