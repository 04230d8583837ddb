import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCluster } from "../../src/cli/control-plane/start.ts";
import { applyObject } from "../../src/cli/demo/install.ts";
import { readStatus } from "../../src/engine/status/status.ts";
import { audit } from "../cluster/audit.ts";
import { type Platform, startPlatform } from "../cluster/chaos/platform.ts";
import { openStage, type Stage } from "../cluster/chaos/stage.ts";
import { kubectl, type TestCluster } from "../cluster/harness.ts";
import { datacenter, lan, server } from "../cluster/objects.ts";
import { manifest } from "../subjects/surroundings.ts";

// One operator for all namespaces, so it needs a control plane of its own. B is the victim. A has only the role `edit`.
const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

let platform: Platform;
let run: TestCluster["kubectl"];
let a: Stage;
let b: Stage;

const group = "rbac.authorization.k8s.io";
const bind = ({ admin, namespace }: Stage, role: string) =>
  applyObject(admin, {
    apiVersion: `${group}/v1`,
    kind: "RoleBinding",
    metadata: { name: `editor-${role}`, namespace },
    roleRef: { apiGroup: group, kind: "ClusterRole", name: `mooring-${role}` },
    subjects: [{ apiGroup: group, kind: "User", name: `editor-${namespace}` }],
  });
/** kubectl of a user with `edit` in a namespace. */
async function edit({ namespace }: Stage, args: string[], ...objects: object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  const all = ["-n", namespace, `--as=editor-${namespace}`, ...args, ...(objects.length > 0 ? ["-f", "-"] : [])];
  const { code, stderr } = await run(all, { input });
  expect(stderr).toBe("");
  expect(code).toBe(0);
}
const change = (stage: Stage, what: string, spec: object) =>
  edit(stage, ["patch", what, "--type=merge", "-p", JSON.stringify({ spec })]);

const shared = (name: string, more: object = {}) =>
  manifest("ClusterAccount", name, {
    credentialsSecretRef: { name: "shared" },
    namespaces: { names: [a.namespace, b.namespace] },
    ...more,
  });
const handing = { accountRef: { kind: "ClusterAccount", name: "handing-over" } };

async function statusOf(stage: Stage, kind: string, name: string) {
  const object = await stage.read(kind, name);
  return object && readStatus(object);
}
async function eventsOf({ namespace }: Stage, name: string): Promise<string> {
  const messages = `{.items[?(@.involvedObject.name=="${name}")].message}`;
  return (await run(["-n", namespace, "get", "events", "-o", `jsonpath=${messages}`])).stdout;
}

beforeAll(async () => {
  const control = await startCluster({ audit: audit() });
  cleanup.defer(control.stop);
  run = kubectl(control.assets, control.kubeconfig);
  platform = cleanup.use(await startPlatform({ speed: 200 }));
  const home = cleanup.use(await openStage(control.kubeconfig));
  a = cleanup.use(await openStage(control.kubeconfig));
  b = cleanup.use(await openStage(control.kubeconfig));
  await Promise.all([a, b].flatMap((stage) => [bind(stage, "edit"), bind(stage, "view")]));
  await home.apply(
    { apiVersion: "v1", kind: "Secret", metadata: { name: "shared" }, stringData: { token: platform.token } },
    shared("shared", { default: true }),
    shared("handing-over", { adoption: "Any" }),
  );
  await home.operator({ everywhere: true, flags: ["--resync", "2s", "--endpoint", `api=${platform.url}`] });
  await home.untilReady("ClusterAccount", "shared");
  await home.untilReady("ClusterAccount", "handing-over");
});

describe("who has only observed a resource", () => {
  it("does not get the next one with its number by managing it", async () => {
    await edit(b, ["create"], datacenter("lent"));
    await b.untilReady("Datacenter", "lent");
    const lending = { namespaces: { names: [a.namespace] }, kinds: ["Datacenter"], names: ["lent"] };
    await b.apply(manifest("Grant", "lent", lending));
    const datacenterRef = { namespace: b.namespace, name: "lent" };
    await edit(a, ["create"], lan("own", { datacenterRef }));
    const number = readStatus(await a.untilReady("Lan", "own")).id ?? "";
    const observing = { datacenterRef, externalId: number, managementPolicy: "Observe" };
    await edit(a, ["create"], lan("sleeper", observing));
    await a.untilReason("Lan", "sleeper", "Observed");
    await edit(a, ["delete", "lan/own"]);

    await edit(b, ["create"], lan("private", { datacenterRef: { name: "lent" }, public: false }));
    const theirs = readStatus(await b.untilReady("Lan", "private"));
    expect(theirs.id).toBe(number);
    const bare = { bootVolume: undefined, nics: [{ name: "n", lanRef: { name: "sleeper" } }] };
    await change(a, "lan/sleeper", { managementPolicy: "Manage", public: true });
    await edit(a, ["create"], server("guest", { ...bare, datacenterRef }));
    await a.untilReason("Lan", "sleeper", "NotYours");
    await a.untilReason("Server", "guest", "ReferenceNotReady");
    const lans = await platform.named("lans", "private");
    expect(lans.map(({ properties }) => properties?.public)).toEqual([false]);
    expect(await platform.named("servers", "guest")).toEqual([]);

    await edit(a, ["delete", "--wait=false", "lan/sleeper"]);
    await a.untilGone("Lan", "sleeper");
    expect(await platform.named("lans", "private")).toHaveLength(1);
  });

  it.each(["Delete", "Retain"])("does not take back what was handed over to another tenant: %s", async (way) => {
    const name = `given-${way.toLowerCase()}`;
    await edit(a, ["create"], datacenter(name, { ...handing, location: "de/txl" }));
    const id = readStatus(await a.untilReady("Datacenter", name)).id ?? "";
    await change(a, `datacenter/${name}`, { managementPolicy: "Observe" });
    await a.untilReason("Datacenter", name, "Observed");
    const mine = { ...handing, name, location: "de/txl", description: "of B", externalId: id };
    await edit(b, ["create"], datacenter(name, mine));
    await b.untilReady("Datacenter", name);

    const deletionPolicy = way;
    await change(a, `datacenter/${name}`, { managementPolicy: "Manage", description: "taken", deletionPolicy });
    await a.untilReason("Datacenter", name, "NotAdoptable");
    await expect.poll(() => eventsOf(b, name)).toContain("also claimed by an object of another namespace");
    await edit(a, ["delete", "--wait=false", `datacenter/${name}`]);
    await a.untilGone("Datacenter", name);
    await change(b, `datacenter/${name}`, { description: "still of B" });
    await b.untilReady("Datacenter", name);
    const found = (await platform.steering.resources("datacenters")).filter((each) => each.id === id);
    expect(found).toMatchObject([{ properties: { description: "still of B" } }]);
    expect(await statusOf(b, "Datacenter", name)).toMatchObject({ id });
  });
});
