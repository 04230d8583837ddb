import { describe, expect, test } from "vitest";
import { FINALIZER } from "../../../../src/engine/state/names.ts";
import { readStatus, readyOf } from "../../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../../src/kube/resource.ts";
import { type FakeClock, fakeClock } from "../../../fake-clock.ts";
import { API } from "../../support/fake-platform.ts";
import { clusterAccountOf, objectOf } from "../../support/fixtures.ts";
import { credentials, runEngine } from "../../support/running-engine.ts";
import { stage } from "../../support/stage.ts";

const HOME = "mooring-system";
const DC = "72e73b81-8551-4e74-b398-fc63b39994af";
const secret = { ...credentials, metadata: { ...credentials.metadata, namespace: HOME } };
const shared = clusterAccountOf("shared", {
  endpoints: { api: API },
  default: true,
  namespaces: { names: ["lender", "guest"] },
});
const of = (kind: string, namespace: string, name: string, spec: object, status?: object) =>
  objectOf(kind, name, {
    spec,
    metadata: { name, namespace, uid: `uid-${namespace}-${name}` },
    ...(status && { status }),
  });
const lent = (name: string) => ({ namespace: "lender", name });
const grant = of("Grant", "lender", "grant", {
  namespaces: { names: ["guest"] },
  kinds: ["Datacenter", "Lan", "Server", "IPBlock"],
});
const datacenter = of("Datacenter", "lender", "dc", { location: "de/txl" });
const lan = of("Lan", "lender", "net", { datacenterRef: { name: "dc" } });
const size = { type: "VCPU", cores: 2, ram: 2048 };
const user = of("Server", "guest", "web", {
  ...size,
  datacenterRef: lent("dc"),
  nics: [{ name: "n", lanRef: lent("net") }],
});

async function run(initial: KubeObject[], clock: FakeClock) {
  const all = await runEngine([secret, shared, ...initial], { home: HOME, clock });
  const now = (object: KubeObject) => all.api.get(object) ?? object;
  return {
    ...all,
    now,
    ready: (object: KubeObject) => readyOf(now(object)),
    delete(object: KubeObject) {
      const { metadata } = now(object);
      all.put({ ...now(object), metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
    },
  };
}

describe("a Lan that a Server of another namespace uses by a Grant", () => {
  test("is deleted after it, also when the Grant was withdrawn before", async () => {
    const clock = fakeClock();
    const all = await run([datacenter, lan, grant, user], clock);
    await clock.advance(120_000);
    expect(all.ready(user)).toMatchObject({ status: "True" });
    all.remove(grant);
    await clock.advance(60_000);
    all.delete(lan);
    await clock.advance(60_000);
    expect(all.platform.sent("DELETE")).toEqual([]);
    const { reason, message = "" } = all.ready(lan) ?? {};
    expect(reason).toBe("InUse");
    expect(message).toMatch(
      /^Lan is still used by an object of another namespace\. .* ask the owners in the other namesp/,
    );
    expect(message).not.toMatch(/guest|web|on the platform;|end that/);
    all.delete(user);
    await clock.advance(120_000);
    expect([all.api.get(user), all.api.get(lan)]).toEqual([undefined, undefined]);
  });

  test("does not wait for one that names it since, without a Grant", async () => {
    const clock = fakeClock();
    const { nics: _, ...bare } = Object(user.spec);
    const other = { ...user, spec: bare };
    const all = await run([datacenter, lan, grant, other], clock);
    await clock.advance(120_000);
    all.remove(grant);
    await clock.advance(1000);
    const stored = all.now(other);
    all.put({ ...stored, spec: user.spec, metadata: { ...stored.metadata, generation: 2 } });
    await clock.advance(60_000);
    all.delete(lan);
    await clock.advance(60_000);
    expect(all.api.get(lan)?.metadata.finalizers ?? []).not.toContain(FINALIZER);
    expect(readStatus(all.now(other)).id).toBeDefined();
  });
});

describe("a deleted Server that a Volume is attached to", () => {
  const volume = (namespace: string, uses?: Record<string, string>) =>
    of(
      "Volume",
      namespace,
      "data",
      { datacenterId: DC, size: 1, type: "HDD", attachTo: { serverRef: lent("s") } },
      { id: "vol-1", parents: { datacenter: DC }, account: "shop/main", ...(uses && { internal: { uses } }) },
    );
  const deleted = objectOf("Server", "s", {
    spec: { ...size, datacenterId: DC },
    metadata: { name: "s", namespace: "lender", finalizers: [FINALIZER], deletionTimestamp: "2026-01-01T00:00:00Z" },
    status: { id: "srv-1", parents: { datacenter: DC }, account: "shop/main" },
  });
  const key = "Server/lender/s";
  const guests = { staying: ["an object of another namespace"], guests: true };
  const nobody = { staying: [], guests: false };

  test.each([
    ["waits for that of another namespace", [grant, volume("guest")], guests],
    ["waits for that of another namespace whose Grant was withdrawn", [volume("guest", { [key]: "srv-1" })], guests],
    ["does not wait for one that no Grant ever let use it", [volume("guest")], nobody],
    [
      "does not wait for one that a Grant let use another one",
      [volume("guest", { "Server/lender/t": "srv-1" })],
      nobody,
    ],
    ["does not wait for one that used another server of its name", [volume("guest", { [key]: "srv-0" })], nobody],
    [
      "does not wait for one without a resource",
      [{ ...volume("guest"), status: { account: "shop/main", internal: { uses: { [key]: "srv-1" } } } }],
      nobody,
    ],
    ["does not wait for that of its own namespace, which is kept", [volume("lender")], nobody],
  ])("%s", (_, others, expected) => {
    const all = stage([deleted, ...others]);
    all.skip(10_000);
    expect(all.contextOf(key).view.resource.contents).toMatchObject({ leaving: [], ...expected });
  });
});
