import { describe, expect, test } from "vitest";
import type { Log } from "../../../src/engine/observe/deps.ts";
import { FINALIZER } from "../../../src/engine/state/names.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { type FakeClock, fakeClock } from "../../fake-clock.ts";
import { API } from "../support/fake-platform.ts";
import { clusterAccountOf, objectOf } from "../support/fixtures.ts";
import { accountOf, credentials, runEngine } from "../support/running-engine.ts";

const HOME = "mooring-system";
const secretIn = (namespace: string) => ({ ...credentials, metadata: { ...credentials.metadata, namespace } });
const shared = clusterAccountOf("shared", {
  endpoints: { api: API },
  default: true,
  namespaces: { names: ["lender", "guest"] },
});
const space = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, uid: `uid-${name}`, labels },
});
const of = (kind: string, namespace: string, name: string, spec: object, more: Partial<KubeObject["metadata"]> = {}) =>
  objectOf(kind, name, { spec, metadata: { name, namespace, uid: `uid-${namespace}-${name}`, ...more } });
const grant = (spec: object = {}) =>
  of("Grant", "lender", "grant", { namespaces: { names: ["guest"] }, kinds: ["Datacenter"], ...spec });
const datacenter = of("Datacenter", "lender", "dc", { location: "de/txl" });
const lan = (name: string, datacenterRef: object = { namespace: "lender", name: "dc" }) =>
  of("Lan", "guest", name, { datacenterRef });

async function run(initial: KubeObject[], clock: FakeClock, more: { namespace?: string; log?: Log } = {}) {
  const engine = await runEngine([secretIn(HOME), shared, ...initial], { home: HOME, clock, ...more });
  const ready = (object: KubeObject) => {
    const { conditions } = readStatus(engine.api.get(object) ?? object);
    return conditions?.find(({ type }) => type === "Ready");
  };
  const reasonOf = (object: KubeObject) => ready(object)?.reason;
  const remove = (object: KubeObject) => {
    const stored = engine.api.get(object) ?? object;
    engine.put({ ...stored, metadata: { ...stored.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
  };
  /** Writes to an object, without those of others. */
  const writesTo = ({ metadata: { namespace, name } }: KubeObject) =>
    engine.api.calls.filter(
      ({ method, path }) =>
        method === "PATCH" && path.includes(`/namespaces/${namespace}/`) && path.includes(`/${name}`),
    );
  return { ...engine, ready, reasonOf, delete: remove, writesTo };
}

describe("a reference into another namespace", () => {
  test("waits for a person without a Grant there, and is followed as soon as there is one", async () => {
    const clock = fakeClock();
    const mine = lan("net");
    const { ready, api, put, platform } = await run([datacenter, mine], clock);
    await clock.advance(10_000);
    expect(ready(mine)).toMatchObject({
      status: "False",
      reason: "ReferenceNotGranted",
      message:
        "datacenterRef: no Grant in namespace lender lets namespace guest refer to Datacenter dc: ask for one, or name an object of this namespace",
    });
    const { conditions } = readStatus(api.get(mine) ?? mine);
    expect(conditions?.find(({ type }) => type === "Stalled")?.status).toBe("True");
    put(grant());
    await clock.advance(10_000);
    expect(ready(mine)).toMatchObject({ status: "True" });
    expect(platform.sent("POST")).toHaveLength(2);
  });

  test("is refused in the same words whether the object, a Grant or the namespace is there or not", async () => {
    const clock = fakeClock();
    const wrong = [
      { namespace: "lender", name: "dc" },
      { namespace: "lender", name: "none" },
      { namespace: "nowhere", name: "dc" },
    ].map((ref, nth) => ({ ref, object: lan(`net-${nth}`, ref) }));
    const others = [grant({ names: ["other"] }), grant({ kinds: ["Server"] }), grant({ namespaces: { names: ["a"] } })];
    const grants = others.map((each, nth) => ({
      ...each,
      metadata: { ...each.metadata, name: `g${nth}`, uid: `g${nth}` },
    }));
    const { ready } = await run([datacenter, ...grants, ...wrong.map(({ object }) => object)], clock);
    await clock.advance(10_000);
    const said = wrong.map(({ ref, object }) => {
      const { reason, message = "" } = ready(object) ?? {};
      return {
        reason,
        message: message.replace(`namespace ${ref.namespace} `, "").replace(`Datacenter ${ref.name}`, ""),
      };
    });
    expect(said[0]?.reason).toBe("ReferenceNotGranted");
    expect(said).toEqual([said[0], said[0], said[0]]);
  });

  test("that names its own is as one that names none", async () => {
    const clock = fakeClock();
    const own = of("Datacenter", "guest", "dc", { location: "de/txl" });
    const mine = lan("net", { namespace: "guest", name: "dc" });
    const { reasonOf } = await run([own, mine], clock);
    await clock.advance(10_000);
    expect(reasonOf(mine)).toBe("Available");
  });

  test("that is granted and leads nowhere says so, and hears at once when it leads somewhere", async () => {
    const clock = fakeClock();
    const mine = lan("net");
    const { ready, reasonOf, put } = await run([grant(), mine], clock);
    await clock.advance(10_000);
    expect(ready(mine)).toMatchObject({
      reason: "ReferenceNotFound",
      message: "datacenterRef: Datacenter dc not found in namespace lender",
    });
    put(datacenter);
    await clock.advance(10_000);
    expect(reasonOf(mine)).toBe("Available");
  });

  test("counts by the labels of its own namespace, as they are now", async () => {
    const clock = fakeClock();
    const mine = lan("net");
    const gold = grant({ namespaces: { selector: { matchLabels: { tier: "gold" } } } });
    const { reasonOf, put } = await run([datacenter, gold, space("guest"), mine], clock);
    await clock.advance(10_000);
    expect(reasonOf(mine)).toBe("ReferenceNotGranted");
    put(space("guest", { tier: "gold" }));
    await clock.advance(10_000);
    expect(reasonOf(mine)).toBe("Available");
  });

  test("leads nowhere under an operator of one namespace", async () => {
    const clock = fakeClock();
    const mine = lan("net");
    const own = [secretIn("guest"), accountOf("main", {}, { namespace: "guest" })];
    const { reasonOf } = await run([...own, datacenter, grant(), mine], clock, { namespace: "guest" });
    await clock.advance(10_000);
    expect(reasonOf(mine)).toBe("ReferenceNotGranted");
  });

  test("that nobody grants costs one write and no call, whatever goes on over there", async () => {
    const clock = fakeClock();
    const mine = lan("net");
    const lines: string[] = [];
    const passes: unknown[] = [];
    const isMine = (fields: object) => Reflect.get(fields, "object") === "Lan/guest/net";
    const note = (fields: object, message: string) => void (isMine(fields) && lines.push(message));
    const log = {
      debug: (fields: object) => void (isMine(fields) && passes.push(fields)),
      info: note,
      warn: note,
      error: note,
    };
    const { api, put, platform, writesTo } = await run([datacenter, mine], clock, { log });
    await clock.advance(60_000);
    const made = platform.calls.length;
    const observed = passes.length;
    expect(observed).toBeGreaterThan(0);
    expect(writesTo(mine)).toHaveLength(1);
    for (let nth = 0; nth < 20; nth++) {
      const stored = api.get(datacenter) ?? datacenter;
      put({ ...stored, metadata: { ...stored.metadata, labels: { nth: String(nth) } } });
      put(grant({ names: [`other-${nth}`] }));
      await clock.advance(1000);
    }
    expect(passes.length - observed).toBe(0);
    await clock.advance(3_600_000);
    // It is reconciled periodically, about every ten minutes.
    expect(passes.length - observed).toBeLessThan(9);
    expect(writesTo(mine)).toHaveLength(1);
    expect(platform.calls.slice(made).filter(({ url }) => url.includes("/lans"))).toEqual([]);
    expect(lines).toEqual(["status changed"]);
  });
});

describe("a Grant", () => {
  test("is Ready with one write, and with one more when it is edited", async () => {
    const clock = fakeClock();
    const given = grant();
    const { ready, api, put, writesTo } = await run([given], clock);
    await clock.advance(3_600_000);
    expect(ready(given)).toMatchObject({ status: "True", reason: "Available", message: "Grant is in effect" });
    const stored = api.get(given) ?? given;
    put({ ...stored, spec: Object(grant({ kinds: ["Lan"] }).spec), metadata: { ...stored.metadata, generation: 2 } });
    await clock.advance(3_600_000);
    expect(readStatus(api.get(given) ?? given).observedGeneration).toBe(2);
    expect(writesTo(given)).toHaveLength(2);
  });

  test("that is withdrawn leaves what was made and lets it be deleted, and nothing new is made", async () => {
    const clock = fakeClock();
    const [given, mine, next] = [grant(), lan("net"), lan("next")];
    const all = await run([datacenter, given, mine], clock);
    await clock.advance(120_000);
    const writes = all.writesTo(mine).length;
    all.remove(given);
    all.put(next);
    await clock.advance(3_600_000);
    expect(all.reasonOf(mine)).toBe("Available");
    expect(all.writesTo(mine)).toHaveLength(writes);
    expect(all.reasonOf(next)).toBe("ReferenceNotGranted");
    all.delete(mine);
    await clock.advance(60_000);
    expect(all.platform.sent("DELETE").map(({ url }) => new URL(url).pathname)).toEqual([
      expect.stringMatching(/\/lans\/1$/),
    ]);
    expect(all.api.get(mine)).toBeUndefined();
  });
});

describe("an object that others use by a Grant", () => {
  test("waits for them without naming them, also when the Grant is gone by then, and goes after them", async () => {
    const clock = fakeClock();
    const [given, mine] = [grant(), lan("net")];
    const all = await run([datacenter, given, mine], clock);
    await clock.advance(10_000);
    // Nothing else is in it.
    for (const item of all.platform.items.values()) item.entities = {};
    all.delete(datacenter);
    await clock.advance(10_000);
    expect(all.ready(datacenter)).toMatchObject({ reason: "NotEmpty" });
    expect(all.ready(datacenter)?.message).toContain("still holds an object of another namespace");
    expect(all.ready(datacenter)?.message).not.toMatch(/guest|net/);
    all.remove(given);
    await clock.advance(60_000);
    expect(all.reasonOf(datacenter)).toBe("NotEmpty");
    all.delete(mine);
    await clock.advance(60_000);
    expect([all.api.get(mine), all.api.get(datacenter)]).toEqual([undefined, undefined]);
  });

  test("does not wait for one that names it without a Grant, whatever that one has", async () => {
    const clock = fakeClock();
    const block = of("IPBlock", "lender", "block", { location: "de/txl", size: 1 });
    const own = of("Datacenter", "guest", "dc", { location: "de/txl" });
    const nic = { name: "n", lan: 1, ipsFrom: [{ ipBlockRef: { namespace: "lender", name: "block" } }] };
    const server = { datacenterRef: { name: "dc" }, type: "VCPU", cores: 2, ram: 2048 };
    const user = of("Server", "guest", "web", server);
    const all = await run([block, own, user], clock);
    await clock.advance(20_000);
    expect(all.reasonOf(user)).toBe("Available");
    const stored = all.api.get(user) ?? user;
    all.put({ ...stored, spec: { ...server, nics: [nic] }, metadata: { ...stored.metadata, generation: 2 } });
    await clock.advance(20_000);
    expect(all.reasonOf(user)).toBe("ReferenceNotGranted");
    all.delete(block);
    await clock.advance(20_000);
    expect(all.api.get(block)?.metadata.finalizers ?? []).not.toContain(FINALIZER);
    expect(all.platform.sent("DELETE")).toHaveLength(1);
  });
});
