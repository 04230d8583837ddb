import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readStatus } from "../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { type Platform, startPlatform } from "../chaos/platform.ts";
import { openStage, type Stage } from "../chaos/stage.ts";
import { until } from "../chaos/wait.ts";
import { cluster } from "../harness.ts";
import { datacenter, server } from "../objects.ts";

const cleanup = new AsyncDisposableStack();
let stage: Stage;
let accounts = 0;

beforeAll(async () => {
  stage = cleanup.use(await openStage(cluster().kubeconfig));
  await (await stage.operator()).untilLeading();
});
afterAll(() => cleanup.disposeAsync());

const creation = "POST /cloudapi/v6/datacenters";
const idOf = (object: KubeObject | undefined) => object && readStatus(object).id;
const ids = (found: { id: string }[]) => found.map(({ id }) => id).sort();

/** A platform for one test, and the part of spec that selects it. */
async function alone(): Promise<{ platform: Platform; spec: { accountRef: { name: string } } }> {
  const platform = cleanup.use(await startPlatform());
  accounts += 1;
  const name = `account-${accounts}`;
  await stage.account(platform, name);
  return { platform, spec: { accountRef: { name } } };
}

/** The creation of a datacenter with this name, as the operator sends it. */
const body = (name: string) => ({ properties: { name, location: "de/txl" } });

const untilThere = (platform: Platform, name: string, count: number) =>
  until(
    async () => {
      const found = await platform.named("datacenters", name);
      return found.length === count ? undefined : `there are ${found.length} of ${count} datacenters ${name}`;
    },
    { title: name, everyMs: 50 },
  );

describe.concurrent("twins", () => {
  it("two objects with equal bodies, killed after both creates and before either claim: two resources, each claimed once", async () => {
    await using platform = await startPlatform();
    await using stage = await openStage(cluster().kubeconfig);
    await stage.account(platform);
    const first = await stage.operator({ flags: ["--no-leader-election"] });
    await stage.untilReady("Account", "main");
    await platform.steering.faults({ route: creation, fault: "hang", executed: true });
    await stage.apply(datacenter("left", { name: "equal" }), datacenter("right", { name: "equal" }));
    await untilThere(platform, "equal", 2);
    await first.kill();
    await platform.steering.faults();
    for (const name of ["left", "right"]) expect(idOf(await stage.read("Datacenter", name))).toBeUndefined();

    await stage.operator({ flags: ["--no-leader-election"] });
    const both = [await stage.untilReady("Datacenter", "left"), await stage.untilReady("Datacenter", "right")];
    expect(both.map(idOf).sort()).toEqual(ids(await platform.named("datacenters", "equal")));
  });

  it("the twin of another user is never adopted, changed or deleted", async () => {
    const { platform, spec } = await alone();
    await platform.asStranger("POST", "/cloudapi/v6/datacenters", body("shared"));
    const [twin] = await platform.named("datacenters", "shared");
    // Without an answer, the operator has to search, and there is only the equal resource to find.
    await platform.steering.faults({ route: creation, fault: "request-lost", count: 1 });
    await stage.apply(datacenter("shared", spec));
    const own = idOf(await stage.untilReady("Datacenter", "shared"));
    expect(ids(await platform.named("datacenters", "shared"))).toEqual([own, twin?.id].sort());
    await stage.patch("Datacenter", "shared", { spec: { description: "changed" } });
    await stage.untilReady("Datacenter", "shared");
    await stage.remove("Datacenter", "shared");
    await stage.untilGone("Datacenter", "shared");
    expect(await platform.named("datacenters", "shared")).toEqual([
      { ...twin, state: "AVAILABLE", visible: true, properties: { ...twin?.properties, version: 1 } },
    ]);
  });

  it("a person's twin of the same user and body is Ambiguous, names both, and either may go", async () => {
    const { platform, spec } = await alone();
    await platform.steering.faults({ route: creation, fault: "hang", executed: true, count: 1 });
    await stage.apply(datacenter("either", spec));
    await untilThere(platform, "either", 1);
    await platform.steering.call("POST", "/cloudapi/v6/datacenters", body("either"));
    await stage.untilReason("Datacenter", "either", "Ambiguous");
    const found = await platform.named("datacenters", "either");
    const message = readStatus((await stage.read("Datacenter", "either")) ?? expect.unreachable()).conditions?.[0]
      ?.message;
    expect(found).toHaveLength(2);
    for (const { id } of found) expect(message).toContain(id);

    const [surplus, left] = found;
    await platform.steering.call("DELETE", `/cloudapi/v6/datacenters/${surplus?.id}`);
    expect(idOf(await stage.untilReady("Datacenter", "either"))).toBe(left?.id);
    expect(ids(await platform.named("datacenters", "either"))).toEqual([left?.id]);
  });

  it("a person's twin that can be seen before our own resource is not taken for it", async () => {
    const { platform, spec } = await alone();
    await platform.steering.faults(
      { route: creation, fault: "late-visibility", seconds: 80, count: 1 },
      { route: creation, fault: "hang", executed: true, count: 1 },
    );
    await stage.apply(datacenter("first-seen", spec));
    await untilThere(platform, "first-seen", 1);
    await platform.steering.call("POST", "/cloudapi/v6/datacenters", body("first-seen"));
    await stage.untilReason("Datacenter", "first-seen", "Ambiguous");
    expect(await platform.named("datacenters", "first-seen")).toHaveLength(2);
  });
});

/** A state of a creation, and how to cause it. */
const states = [
  { state: "refused for now, before anything was made", faults: [{ fault: "status", status: 429, retryAfter: 2 }] },
  { state: "unanswered and not executed", faults: [{ fault: "hang" }] },
  { state: "unanswered and executed", faults: [{ fault: "hang", executed: true }] },
  { state: "lost on the way there", faults: [{ fault: "request-lost" }] },
  { state: "lost on the way back", faults: [{ fault: "response-lost" }] },
  { state: "answered with 500", faults: [{ fault: "status", status: 500 }] },
  { state: "BUSY", faults: [{ fault: "slow-provisioning", factor: 5 }] },
  { state: "FAILED", faults: [{ fault: "request-failed" }] },
  { state: "invisible", faults: [{ fault: "late-visibility", seconds: 40 }] },
  {
    state: "invisible and unanswered",
    faults: [{ fault: "late-visibility", seconds: 40 }, { fault: "response-lost" }],
  },
];

/** A resource that can be created, with the path of its collection and the objects that it needs. */
const subjects = [
  { kind: "Datacenter", collection: "datacenters", route: creation, manifest: datacenter },
  { kind: "Server", collection: "servers", route: `${creation}/{datacenterId}/servers`, manifest: server },
];

describe.for(subjects)("a $kind deleted while its creation is in any state leaves nothing", (subject) => {
  const { kind, collection, route, manifest } = subject;
  it.concurrent.for(states)("$state", async ({ state, faults }) => {
    const { platform, spec } = await alone();
    const name = `${kind}-${state.replaceAll(/[^a-z0-9]+/gi, "-")}`.toLowerCase();
    const home = `${name}-home`;
    if (kind === "Server") {
      await stage.apply(datacenter(home, spec));
      await stage.untilReady("Datacenter", home);
    }
    await platform.steering.faults(...faults.map((fault) => ({ route, ...fault })));
    await platform.steering.resetCalls();
    await stage.apply(manifest(name, { ...spec, ...(kind === "Server" && { datacenterRef: { name: home } }) }));
    await until(async () => ((await platform.steering.calls()).byRoute[route] ? undefined : "nothing was sent"), {
      title: name,
      everyMs: 20,
    });
    await stage.remove(kind, name);
    await stage.untilGone(kind, name);
    await platform.steering.faults();
    expect(await platform.steering.resources(collection)).toEqual([]);
  });
});

const WIDTH = 24;
/** Deletes objects at every point of their creation, at least this many, until the API server has dropped one. */
const LEAST = 240;
const MOST = 2400;

it("objects that are deleted in the moment of their creation leave nothing, though the API server drops some with their finalizers on", {
  timeout: 300_000,
}, async () => {
  await using platform = await startPlatform();
  await using stage = await openStage(cluster().kubeconfig);
  await stage.account(platform);
  const operator = await stage.operator();
  await stage.untilReady("Account", "main");
  await platform.steering.faults({ route: creation, fault: "response-lost", probability: 0.3 });
  const isDropped = () => operator.log().includes("the object was deleted during its creation");
  let begun = 0;
  const blink = async () => {
    while (begun < LEAST || (begun < MOST && !isDropped())) {
      begun += 1;
      const name = `moment-${begun}`;
      await stage.apply(datacenter(name));
      await delay(Math.random() * 30);
      await stage.remove("Datacenter", name);
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, blink));
  await platform.steering.faults();
  const left = async () => [
    ...(await stage.list("Datacenter")).map(({ metadata }) => metadata.name),
    ...(await platform.steering.resources("datacenters")).map(({ id }) => id),
  ];
  await until(async () => ((await left()).join() || undefined)?.slice(0, 1000), { title: "leaving" });
  expect(isDropped()).toBe(true);
});
