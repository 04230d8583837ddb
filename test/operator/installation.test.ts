import { describe, expect, test } from "vitest";
import { KubeError } from "../../src/kube/client/errors.ts";
import type { KubeCall, KubeClient } from "../../src/kube/client/transport.ts";
import { INSTALLATION, openInstallation, SHARED_NAMESPACE } from "../../src/operator/installation.ts";
import { fakeClock } from "../fake-clock.ts";

const MINUTE = 60_000;

/** Leases of a cluster, and installations that know each other only by these. */
function cluster({ forbidden = "" } = {}) {
  const clock = fakeClock();
  const leases = new Map<string, { metadata: object; spec?: unknown }>();
  const errors: string[] = [];
  let version = 0;
  const error = (status: number, reason: string) => new KubeError({ status, reason, message: reason });
  async function request<T>({ method, path, body }: KubeCall): Promise<T>;
  async function request({ method, path, body }: KubeCall): Promise<unknown> {
    if (forbidden !== "" && path.includes(`/namespaces/${forbidden}/`)) throw error(403, "Forbidden");
    const key = method === "POST" ? `${path}/${INSTALLATION}` : path;
    const known = leases.get(key);
    if (method === "GET" && !known) throw error(404, "NotFound");
    if (method === "GET") return known;
    const { metadata = {}, spec } = Object(body);
    const isStale =
      known && Reflect.get(metadata, "resourceVersion") !== Reflect.get(known.metadata, "resourceVersion");
    if (method === "POST" ? known : isStale) throw error(409, "Conflict");
    const written = { metadata: { ...metadata, resourceVersion: String(++version) }, spec };
    leases.set(key, written);
    return written;
  }
  const client: KubeClient = {
    server: "http://api.test",
    request,
    stream: () => Promise.reject(new Error("nothing is watched")),
    close: async () => {},
  };
  const log = { warn: () => {}, error: (_: object, message: string) => void errors.push(message) };
  return {
    clock,
    errors,
    remove: (namespace: string) =>
      leases.delete(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${INSTALLATION}`),
    /** An operator that leads in its own namespace. */
    async install(namespace: string, watchNamespace?: string) {
      const installation = openInstallation({ client, clock, namespace, watchNamespace, log });
      let state = "waits";
      void installation.acquire().then(() => {
        state = "works";
      });
      void installation.lost.then(() => {
        state = "lost";
      });
      await clock.advance(0);
      return { state: () => state, refusal: installation.refusal, stop: () => installation[Symbol.asyncDispose]() };
    },
  };
}

describe("an installation", () => {
  test("waits for as long as another one works, and says how to take over", async () => {
    const { install, clock, errors } = cluster();
    const first = await install("one");
    const second = await install("two");
    await clock.advance(60 * MINUTE);
    expect([first.state(), second.state()]).toEqual(["works", "waits"]);
    expect(second.refusal()).toContain(`kubectl -n ${SHARED_NAMESPACE} delete lease ${INSTALLATION}`);
    expect(errors).toEqual([second.refusal()]);
    await Promise.all([first.stop(), second.stop()]);
  });

  test("has any number of operators: shards, replicas, and the next one after an upgrade", async () => {
    const { install } = cluster();
    const all = await Promise.all([install("one"), install("one"), install("one")]);
    expect(all.map(({ state }) => state())).toEqual(["works", "works", "works"]);
    await Promise.all(all.map(({ stop }) => stop()));
    const next = await install("one");
    expect(next.state()).toBe("works");
    await next.stop();
  });

  test("takes over when the other one is gone for ten minutes, and not before", async () => {
    const { install, clock } = cluster();
    const first = await install("one");
    const second = await install("two");
    await first.stop();
    await clock.advance(9 * MINUTE);
    expect(second.state()).toBe("waits");
    await clock.advance(2 * MINUTE);
    expect(second.state()).toBe("works");
    const back = await install("one");
    expect(back.state()).toBe("waits");
    await Promise.all([second.stop(), back.stop()]);
  });

  test("ends when another one has taken the Lease that somebody deleted", async () => {
    const { install, clock, remove } = cluster();
    const first = await install("one");
    remove(SHARED_NAMESPACE);
    const second = await install("two");
    await clock.advance(10_000);
    expect([first.state(), second.state()]).toEqual(["lost", "works"]);
    await Promise.all([first.stop(), second.stop()]);
  });

  test("for one namespace meets those of the same namespace and of all, and no others", async () => {
    const { install, clock } = cluster();
    const shop = await install("one", "shop");
    const bank = await install("two", "bank");
    const again = await install("two", "shop");
    expect([shop.state(), bank.state(), again.state()]).toEqual(["works", "works", "waits"]);
    const all = await install("three");
    await clock.advance(10_000);
    expect([shop.state(), bank.state(), all.state()]).toEqual(["lost", "lost", "works"]);
    await Promise.all([shop, bank, again, all].map(({ stop }) => stop()));
  });

  test("works where its rights do not name the Lease yet", async () => {
    const { install } = cluster({ forbidden: SHARED_NAMESPACE });
    const all = await install("one");
    const shop = await install("two", "shop");
    expect([all.state(), shop.state()]).toEqual(["works", "works"]);
    await Promise.all([all.stop(), shop.stop()]);
  });
});
