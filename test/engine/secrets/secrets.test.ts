import { afterEach, describe, expect, test } from "vitest";
import { CREDENTIALS, FINALIZER } from "../../../src/engine/state/names.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { createHeldSecrets, type HeldSecrets } from "../../../src/kube/write/held-secrets.ts";
import { fakeClock } from "../../fake-clock.ts";
import { fakeApiServer } from "../support/fake-api-server.ts";
import { objectOf } from "../support/fixtures.ts";

const secret = (name: string, token: string, metadata: Partial<KubeObject["metadata"]> = {}): KubeObject =>
  objectOf("Secret", name, {
    apiVersion: "v1",
    metadata: { name, ...metadata },
    data: { token: Buffer.from(token).toString("base64") },
  });
const label = { [CREDENTIALS]: "true" };
const marks = { labels: label, finalizers: [FINALIZER] };

const opened: HeldSecrets[] = [];
afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));

async function open(...initial: KubeObject[]) {
  const clock = fakeClock();
  const api = fakeApiServer(...initial);
  const woken: string[] = [];
  const errors: unknown[] = [];
  const secrets = createHeldSecrets({
    label: CREDENTIALS,
    finalizer: FINALIZER,
    client: api.client,
    clock,
    wake: (account) => woken.push(account),
    onError: (error) => errors.push(error),
  });
  opened.push(secrets);
  const synced = secrets.sync();
  await clock.advance(0);
  const happen = async (type: string, object: unknown) => {
    api.streams[0]?.send(type, object);
    await clock.advance(0);
  };
  for (const each of initial) if (each.metadata.labels) await happen("ADDED", api.get(each));
  const annotations = { "k8s.io/initial-events-end": "true" };
  await happen("BOOKMARK", { metadata: { resourceVersion: "1000", annotations } });
  await synced;
  const read = (account: string, name: string) => secrets.read(account, "shop", name, "token");
  /** Names a Secret and starts the search for it. */
  async function find(account: string, name: string) {
    read(account, name);
    await clock.advance(0);
    return read(account, name);
  }
  /** Somebody writes to a Secret. The watch reports it only if it has the label. */
  async function edit(object: KubeObject) {
    const before = api.get(object);
    const after = api.put(object);
    if (after.metadata.labels) await happen("MODIFIED", after);
    else if (before?.metadata.labels) await happen("DELETED", after);
  }
  const reads = () => api.calls.filter(({ method, query }) => method === "GET" && !query?.watch).length;
  const writes = () => api.calls.filter(({ method }) => method === "PATCH");
  return { clock, api, secrets, woken, errors, read, find, edit, happen, reads, writes };
}

describe("the Secret of an Account", () => {
  test("is not known before it was looked for; then its value is, and the Account hears of it", async () => {
    const { read, find, woken } = await open(secret("cred", "t1"));
    expect(read("shop/main", "cred")).toEqual({ known: false, value: undefined });
    expect(await find("shop/main", "cred")).toEqual({ known: true, value: "t1" });
    expect(woken).toEqual(["shop/main"]);
    expect(read("shop/second", "cred")).toEqual({ known: true, value: "t1" });
    expect(await find("shop/third", "missing")).toEqual({ known: true, value: undefined });
  });

  test("costs no watch of its own, however many there are, and few are read at the same time", async () => {
    const { api, read, clock, reads } = await open();
    let [open_, most] = [0, 0];
    const { request } = api.client;
    api.client.request = async (call) => {
      most = Math.max(most, ++open_);
      await new Promise<void>((resolve) => setImmediate(resolve));
      return request<never>(call).finally(() => open_--);
    };
    for (let n = 0; n < 300; n++) read(`shop/a${n}`, `missing-${n}`);
    for (let turn = 0; reads() < 300 && turn < 300; turn++) await clock.advance(0);
    expect(reads()).toBe(300);
    expect(most).toBe(4);
    expect(api.streams.map(({ call }) => call.query?.labelSelector)).toEqual([`${CREDENTIALS}=true`]);
  });

  test("that is created later than the Account is found by its name, at a growing pause up to 15 s", async () => {
    const { api, clock, read, find, reads, woken } = await open();
    await find("shop/main", "cred");
    const at: number[] = [];
    for (let second = 1; second <= 60; second++) {
      const before = reads();
      await clock.advance(1000);
      if (reads() > before) at.push(second);
    }
    expect(at).toEqual([1, 3, 7, 15, 30, 45, 60]);
    woken.length = 0;
    api.put(secret("cred", "t1"));
    await clock.advance(15_000);
    expect(woken).toEqual(["shop/main"]);
    expect(read("shop/main", "cred").value).toBe("t1");
  });

  test("has a label once it is used, and is seen by the one watch from then on: a change and a deletion at once", async () => {
    const object = secret("cred", "t1");
    const { api, clock, secrets, read, find, edit, happen, reads, woken } = await open(object);
    await find("shop/main", "cred");
    await secrets.hold("shop/main");
    await happen("ADDED", api.get(object));
    await clock.advance(60_000);
    expect(reads()).toBe(1);
    woken.length = 0;
    await edit(secret("cred", "t2", marks));
    expect(woken).toEqual(["shop/main"]);
    expect(read("shop/main", "cred").value).toBe("t2");
    await clock.advance(60_000);
    api.remove(object);
    const last = secret("cred", "t2", marks);
    await happen("DELETED", { ...last, metadata: { ...last.metadata, resourceVersion: "5000" } });
    expect(read("shop/main", "cred")).toEqual({ known: true, value: undefined });
    expect(woken).toEqual(["shop/main", "shop/main"]);
  });

  test("that somebody deletes while it is used is known as that, and its Account hears of it once", async () => {
    const { clock, find, read, edit, happen, woken, api } = await open(secret("cred", "t1", marks));
    await find("shop/main", "cred");
    await clock.advance(60_000);
    woken.length = 0;
    await edit(secret("cred", "t1", { ...marks, deletionTimestamp: "2026-01-01T00:00:00Z" }));
    expect(read("shop/main", "cred")).toEqual({ known: true, value: "t1", leaving: true });
    await happen("MODIFIED", api.get(secret("cred", "t1")));
    expect(woken).toEqual(["shop/main"]);
  });

  test("may be edited sixty times in a minute: its Account hears of it a few times, and has the last value", async () => {
    const { clock, find, read, edit, woken } = await open(secret("cred", "t0", marks));
    await find("shop/main", "cred");
    await find("shop/other", "missing");
    await clock.advance(60_000);
    woken.length = 0;
    for (let n = 1; n <= 60; n++) {
      await edit(secret("cred", `t${n}`, marks));
      await clock.advance(1000);
    }
    await clock.advance(15_000);
    expect(woken.length).toBeLessThan(10);
    expect(new Set(woken)).toEqual(new Set(["shop/main"]));
    expect(read("shop/main", "cred").value).toBe("t60");
  });

  test("whose label or finalizer somebody keeps taking away gets them back at a growing pause", async () => {
    const { clock, secrets, find, edit, woken, writes } = await open(secret("cred", "t1"));
    await find("shop/main", "cred");
    for (let second = 0; second < 60; second++) {
      if (woken.splice(0).length > 0) await secrets.hold("shop/main");
      await edit(secret("cred", "t1", { labels: label }));
      await clock.advance(1000);
    }
    expect(writes().length).toBeGreaterThan(1);
    expect(writes().length).toBeLessThan(10);
  });

  test("whose other labels and annotations change is no news to the Account", async () => {
    const { clock, find, edit, woken } = await open(secret("cred", "t1", marks));
    await find("shop/main", "cred");
    await clock.advance(60_000);
    woken.length = 0;
    await edit(secret("cred", "t1", { ...marks, annotations: { note: "1" } }));
    expect(woken).toEqual([]);
  });

  test("is given a label and a finalizer, and nothing else of it is written", async () => {
    const object = secret("cred", "t1", { finalizers: ["other/guard"] });
    const { api, secrets, find, writes } = await open(object);
    await find("shop/main", "cred");
    await secrets.hold("shop/main");
    expect(api.get(object)?.metadata).toMatchObject({ labels: label, finalizers: ["other/guard", FINALIZER] });
    const [written, ...more] = writes();
    expect(more).toEqual([]);
    const { metadata, ...rest } = Object(written?.body);
    expect(rest).toEqual({ apiVersion: "v1", kind: "Secret" });
    expect(metadata).toEqual({ name: "cred", namespace: "shop", uid: "uid-cred", ...marks });
    await secrets.hold("shop/main");
    expect(writes()).toHaveLength(1);
  });

  test("takes no finalizer when it is on its way out, or gone", async () => {
    const leaving = secret("cred", "t1", { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["other/guard"] });
    const { secrets, find, writes } = await open(leaving);
    await find("shop/main", "cred");
    await secrets.hold("shop/main");
    expect(writes()).toEqual([]);
    const { api: empty, secrets: others, find: begin } = await open(secret("cred", "t1"));
    await begin("shop/main", "cred");
    empty.remove(secret("cred", "t1"));
    await others.hold("shop/main");
  });

  test("is let go with its Account, also when the finalizer came out of a backup", async () => {
    const object = secret("cred", "t1", { labels: { ...label, team: "a" }, finalizers: ["other/guard", FINALIZER] });
    const { api, secrets, find } = await open(object);
    await find("shop/main", "cred");
    await secrets.release("shop/main");
    expect(api.get(object)?.metadata).toMatchObject({ finalizers: ["other/guard"] });
    expect(api.get(object)?.metadata.labels).toEqual({ team: "a" });
  });

  test("is let go although somebody writes to it at the same moment", async () => {
    const object = secret("cred", "t1", marks);
    const { api, secrets, find } = await open(object);
    await find("shop/main", "cred");
    api.put(secret("cred", "t2", { ...marks, finalizers: [FINALIZER, "other/guard"] }));
    await secrets.release("shop/main");
    expect(api.get(object)?.metadata).toMatchObject({ labels: {}, finalizers: ["other/guard"] });
  });

  test("stays for as long as another Account needs it", async () => {
    const object = secret("cred", "t1", marks);
    const { api, secrets, find } = await open(object);
    await find("shop/main", "cred");
    await find("shop/second", "cred");
    await secrets.release("shop/main");
    expect(api.get(object)?.metadata).toMatchObject(marks);
    await secrets.release("shop/second");
    expect(api.get(object)?.metadata).toMatchObject({ labels: {}, finalizers: [] });
  });

  test("is let go when the Account names another one", async () => {
    const [before, after] = [secret("cred", "t1", marks), secret("new", "t2")];
    const { api, find, errors } = await open(before, after);
    await find("shop/main", "cred");
    expect(await find("shop/main", "new")).toEqual({ known: true, value: "t2" });
    expect(api.get(before)?.metadata).toMatchObject({ labels: {}, finalizers: [] });
    expect(errors).toEqual([]);
  });

  test("is let go by the next process when the Account has named another one meanwhile", async () => {
    const [before, after] = [secret("cred", "t1", marks), secret("new", "t2", marks)];
    const { api, secrets } = await open(before, after);
    await secrets.releaseOthers(new Set(["shop/new"]));
    expect(api.get(before)?.metadata).toMatchObject({ labels: {}, finalizers: [] });
    expect(api.get(after)?.metadata).toMatchObject(marks);
  });
});
