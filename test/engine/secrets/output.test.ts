import { describe, expect, test } from "vitest";
import { OUTPUT, PAUSED } from "../../../src/engine/state/names.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import { KubeError } from "../../../src/kube/client/errors.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { fakeApiServer } from "../support/fake-api-server.ts";
import { API, fakePlatform } from "../support/fake-platform.ts";
import { objectOf } from "../support/fixtures.ts";
import { stage } from "../support/stage.ts";

const A = "IPBlock/shop/a";
const IPS = ["203.0.113.7", "203.0.113.8"];
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** A claimed IPBlock. Only its output is left to do. */
function open(output: object | undefined, more: { ips?: string[]; spec?: object } = {}) {
  const { ips = IPS, spec = {} } = more;
  const platform = fakePlatform();
  const properties = { name: "a", location: "de/txl", size: 2, ips };
  const id = platform.make("a", { properties }, { path: "/ipblocks" });
  const object = objectOf("IPBlock", "a", {
    spec: { location: "de/txl", size: 2, ...spec, ...(output && { output }) },
    status: { id, parents: {}, account: "shop/main", endpoint: API, contract: 1 },
  });
  const api = fakeApiServer(object);
  const life = stage([object], { api, platform });
  const places = { Secret: objectOf("Secret", "addresses"), ConfigMap: objectOf("ConfigMap", "addresses") };
  const at = (kind: keyof typeof places, name = "addresses") =>
    api.get({ ...places[kind], metadata: { ...places[kind].metadata, name } });
  /** Passes until the object rests or has to wait. */
  async function settle(): Promise<string[]> {
    const steps: string[] = [];
    for (let round = 0; round < 5 && !steps.at(-1)?.startsWith("rest"); round++) {
      await life.clock.advance(0);
      life.sync();
      steps.push(...(await life.passes(A)));
    }
    return steps.filter((step) => !step.startsWith("wait Observing"));
  }
  /** Somebody writes, and the watch reports it. */
  const happen = (written: KubeObject) => life.deps.published.put(api.put(written));
  const edit = (change: (object: KubeObject) => object) => {
    const current = api.get(object) ?? object;
    const next = { ...current, ...change(current) };
    api.put({ ...next, metadata: { ...next.metadata, generation: (current.metadata.generation ?? 1) + 1 } });
  };
  const respec = (output: object | undefined) =>
    edit(() => ({ spec: { location: "de/txl", size: 2, ...spec, ...(output && { output }) } }));
  const status = () => readStatus(api.get(object) ?? object);
  const ready = () => status().conditions?.find(({ type }) => type === "Ready");
  const writes = (path = "") =>
    api.calls.filter((call) => call.method !== "GET" && call.path.includes(path)).map(({ method }) => method);
  return { ...life, id, object, at, settle, happen, edit, respec, status, ready, writes };
}

describe("spec.output", () => {
  test.each([
    ["Secret", { secretName: "addresses" }, base64],
    ["ConfigMap", { configMapName: "addresses" }, (text: string) => text],
  ] as const)("is in a %s before the object is Ready, and told of once", async (kind, output, as) => {
    const { at, settle, ready, events, id, writes, object } = open(output);
    expect(await settle()).toEqual(["output", "rest"]);
    expect(at(kind)).toMatchObject({
      metadata: { labels: { [OUTPUT]: "true" }, ownerReferences: [{ uid: object.metadata.uid, controller: true }] },
      data: {
        ID: as(id),
        LOCATION: as("de/txl"),
        IPS: as("203.0.113.7,203.0.113.8"),
        IP_0: as("203.0.113.7"),
        IP_1: as("203.0.113.8"),
      },
    });
    expect(ready()).toMatchObject({ status: "True" });
    expect(events).toEqual([`Normal OutputCreated created ${kind} addresses for workloads`]);
    const before = writes().length;
    expect(await settle()).toEqual(["rest"]);
    expect(writes().length).toBe(before);
  });

  test("of an observed resource is written, too; of a paused object it is not", async () => {
    const observed = open({ configMapName: "addresses" }, { spec: { managementPolicy: "Observe" } });
    expect(await observed.settle()).toEqual(["output", "rest"]);
    const paused = open({ configMapName: "addresses" });
    paused.edit(({ metadata }) => ({ metadata: { ...metadata, annotations: { [PAUSED]: "true" } } }));
    await paused.settle();
    expect(paused.at("ConfigMap")).toBeUndefined();
  });

  test("that somebody edits is restored, and later each time while they go on", async () => {
    const { at, settle, happen, writes, ready, pass, skip } = open({ configMapName: "addresses" });
    await settle();
    const spoil = () => {
      const found = at("ConfigMap");
      if (found) happen({ ...found, data: { IPS: "198.51.100.1" }, binaryData: { more: "" } });
    };
    skip(2000);
    spoil();
    expect(await settle()).toEqual(["output", "rest"]);
    expect(at("ConfigMap")).toMatchObject({ data: { IP_0: "203.0.113.7" } });
    expect(at("ConfigMap")?.binaryData).toBeUndefined();
    spoil();
    expect(await settle()).toEqual(["rest"]);
    expect(ready()).toMatchObject({ status: "True" });
    expect(await pass(A)).toMatchObject({ again: { inMs: expect.any(Number) } });
    for (const pause of [2000, 4000, 8000]) {
      skip(pause - 1);
      expect(await settle(), `after ${pause - 1}`).toEqual(["rest"]);
      skip(1);
      expect(await settle(), `after ${pause}`).toEqual(["output", "rest"]);
      spoil();
    }
    expect(writes("configmaps")).toEqual(["POST", "PUT", "PUT", "PUT", "PUT"]);
  });

  test("that gets another name or kind is written there first, and then deleted where it was", async () => {
    const { at, settle, respec, writes } = open({ configMapName: "addresses" });
    await settle();
    respec({ secretName: "elsewhere" });
    expect(await settle()).toEqual(["output", "rest"]);
    expect(at("ConfigMap")).toBeUndefined();
    expect(at("Secret", "elsewhere")).toBeDefined();
    expect(writes("/configmaps").concat(writes("/secrets"))).toEqual(["POST", "DELETE", "POST"]);
  });

  test("that is removed from spec is deleted, and not twice while the watch has not told", async () => {
    const { at, settle, respec, writes } = open({ secretName: "addresses" });
    await settle();
    respec(undefined);
    expect(await settle()).toEqual(["output", "rest"]);
    expect(at("Secret")).toBeUndefined();
    expect(await settle()).toEqual(["rest"]);
    expect(writes("secrets")).toEqual(["POST", "DELETE"]);
  });

  test("is not deleted when somebody has written to it since it was seen", async () => {
    const { api, at, settle, respec, skip, happen } = open({ secretName: "addresses" });
    await settle();
    const found = at("Secret");
    if (!found) throw new Error("there is no Secret");
    const taken = api.put({ ...found, metadata: { ...found.metadata, ownerReferences: [] } });
    respec(undefined);
    await settle();
    expect(at("Secret")).toBeDefined();
    happen(taken);
    skip(5000);
    expect(await settle()).toEqual(["rest"]);
    expect(at("Secret")).toBeDefined();
  });
});

describe("spec.output under a name that is taken", () => {
  const theirs = objectOf("ConfigMap", "addresses", { apiVersion: "v1", data: { mine: "yes" } });

  test("leaves it as it is and says so; what the platform shows is in status all the same", async () => {
    const { api, at, settle, ready, pass, skip } = open({ configMapName: "addresses" });
    api.put(theirs);
    expect(await settle()).toEqual(["output", "rest"]);
    const message =
      "ConfigMap addresses already exists and was not created for IPBlock a: change spec.output.configMapName";
    expect(ready()).toMatchObject({ status: "False", reason: "ConfigMapNotOwned", message });
    expect(api.get(objectOf("IPBlock", "a"))?.status).toMatchObject({ ips: IPS });
    expect(at("ConfigMap")?.data).toEqual({ mine: "yes" });
    expect(await pass(A)).toMatchObject({ decision: { step: "rest" }, again: { inMs: expect.any(Number) } });
    api.remove(theirs);
    skip(1000);
    expect(await settle()).toEqual(["output", "rest"]);
    expect(ready()).toMatchObject({ status: "True" });
  });

  test("does not keep the platform side waiting", async () => {
    const { api, platform, id, settle, deps, clock } = open({ configMapName: "addresses" });
    api.put(theirs);
    await settle();
    const item = platform.items.get(id);
    if (item) item.properties = { ...item.properties, name: "renamed by hand" };
    expect(deps.memories.of(A).failure).toBeUndefined();
    deps.collections.refresh(A);
    await clock.advance(2000);
    expect(await settle()).toContain("update");
    expect(item?.properties).toMatchObject({ name: "a" });
  });

  test("of another object says whose it is", async () => {
    const { api, settle, ready } = open({ secretName: "addresses" });
    const owner = { apiVersion: "mooring.dev/v1alpha1", kind: "Server", name: "web", uid: "u", controller: true };
    api.put(objectOf("Secret", "addresses", { metadata: { name: "addresses", ownerReferences: [owner] } }));
    await settle();
    expect(ready()).toMatchObject({
      reason: "SecretNotOwned",
      message: expect.stringContaining("belongs to Server web: change spec.output.secretName"),
    });
  });
});

test("spec.output that the API server refuses waits for a person, with a growing pause", async () => {
  const { api, settle, ready, skip } = open({ configMapName: "addresses" });
  let tries = 0;
  api.beforeEach(({ method, path }) => {
    if (method !== "POST" || !path.includes("configmaps")) return;
    tries++;
    throw new KubeError({ status: 403, reason: "Forbidden", message: "POST configmaps: 403: exceeded quota" });
  });
  await settle();
  expect(ready()).toMatchObject({
    reason: "ConfigMapNotWritable",
    message: "ConfigMap addresses cannot be written: POST configmaps: 403: exceeded quota",
  });
  for (let second = 0; second < 60; second++) {
    skip(1000);
    await settle();
  }
  expect(tries).toBeLessThan(8);
  expect(tries).toBeGreaterThan(4);
});

test.each([
  ["a line break", "203.0.113.7\nEVIL=1"],
  ["a comma", "203.0.113.7,198.51.100.1"],
  ["a variable", "$(id)"],
])("a value of the platform with %s is not written, and nothing else is", async (_, ip) => {
  const { at, settle, ready } = open({ configMapName: "addresses" }, { ips: [ip] });
  expect(await settle()).toEqual(["rest"]);
  expect(at("ConfigMap")).toBeUndefined();
  expect(ready()).toMatchObject({ status: "False", reason: "InvalidAnswer" });
  expect(ready()?.message).not.toContain(ip);
});
