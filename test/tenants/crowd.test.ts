import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { startCluster } from "../../src/cli/control-plane/start.ts";
import { KEPT_TOKEN } from "../../src/engine/state/names.ts";
import { readyOf } from "../../src/engine/status/status.ts";
import { pathOf, SECRETS } from "../../src/kube/resource.ts";
import { defectsIn, type OperatorProcess } from "../cluster/chaos/operator.ts";
import { type Platform, startPlatform } from "../cluster/chaos/platform.ts";
import { openStage, type Stage } from "../cluster/chaos/stage.ts";
import { kubectl, type TestCluster } from "../cluster/harness.ts";
import { ipBlock } from "../cluster/objects.ts";
import { type Manifest, manifest } from "../subjects/surroundings.ts";
import { openTenant } from "./tenant.ts";

// One operator for all namespaces, so it needs a control plane of its own. A has the shipped tenant rights and creates
// as many objects as it can. Meanwhile B gets one object after the other to Ready, and its passes and calls are
// counted.
const cleanup = new AsyncDisposableStack();
let run: TestCluster["kubectl"];
let platform: Platform;
let operator: OperatorProcess;
let a: Stage;
let b: Stage;
let alone: Cost;

const ALLOWED = 5;
const MADE = 40;
const limited = ["Account", "Grant", "InferenceAccess", "ActivityLogExport", "AccessToken", "Lan"];
const flags = limited.flatMap((kind) => ["--limit", `${kind}=${ALLOWED}`]);

beforeAll(async () => {
  const control = await startCluster();
  cleanup.defer(control.stop);
  run = kubectl(control.assets, control.kubeconfig);
  platform = cleanup.use(await startPlatform({ speed: 200 }));
  b = cleanup.use(await openStage(control.kubeconfig));
  a = cleanup.use(await openTenant(control.kubeconfig));
  // Labels of the cluster are written at a time of their own, seconds after the object that is counted.
  const counted = ["--annotate-after", "1h", "--cluster-name", "none", "--workers", "16"];
  operator = await b.operator({ everywhere: true, flags: [...flags, ...counted] });
  await b.account(platform);
  await b.untilReady("Account", "main");
  await cost("first");
  alone = await cost("alone");
});
afterAll(() => cleanup.disposeAsync());

async function done(running: ReturnType<typeof run>): Promise<string> {
  const { code, stdout, stderr } = await running;
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

const asA = (args: string[], input = "") =>
  done(run(["-n", a.namespace, `--as=tenant-of-${a.namespace}`, ...args], { input }));

async function apply(...objects: object[]): Promise<void> {
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  await asA(["apply", "--server-side", "-f", "-"], list);
}

interface Cost {
  passes: number;
  calls: number;
}

/** The cost for B of getting an object to Ready. */
async function cost(name: string): Promise<Cost> {
  const passes = () => operator.metric('controller_runtime_reconcile_total{controller="ipblock"');
  const calls = async () => {
    const routes = Object.entries((await platform.steering.calls()).byRoute);
    return routes.filter(([route]) => route.includes("/ipblocks")).reduce((sum, [, count]) => sum + count, 0);
  };
  const before = { passes: await passes(), calls: await calls() };
  await b.apply(ipBlock(name));
  await b.untilReady("IPBlock", name);
  return { passes: (await passes()) - before.passes, calls: (await calls()) - before.calls };
}

async function bGetsOn(name: string): Promise<void> {
  const { passes, calls } = await cost(name.toLowerCase());
  console.log(`B during "${name}": ${passes} passes, ${calls} calls (alone ${alone.passes}, ${alone.calls})`);
  expect(passes).toBeLessThan(3 * alone.passes);
  expect(calls).toBeLessThan(3 * alone.calls);
  expect(operator.exitCode()).toBeUndefined();
  expect(defectsIn(operator.log())).toEqual([]);
}

const nameOf = (nth: number) => `n${String(nth).padStart(3, "0")}`;
const names = Array.from({ length: MADE }, (_, nth) => nameOf(nth));

async function reasons(kind: string): Promise<(string | undefined)[]> {
  const found = new Map((await a.list(kind)).map((object) => [object.metadata.name, readyOf(object)?.reason]));
  return names.map((name) => found.get(name));
}
const refused = async (kind: string) => (await reasons(kind)).filter((reason) => reason === "TooManyObjects").length;

const specs: [string, (name: string) => object][] = [
  ["Grant", () => ({ namespaces: { names: ["shop"] }, kinds: ["Datacenter"] })],
  ["InferenceAccess", () => ({ models: ["openai/gpt-oss-120b"] })],
  ["ActivityLogExport", () => ({ destination: { logPipelineRef: { name: "none" } } })],
  ["AccessToken", (name) => ({ secretName: name })],
  ["Lan", () => ({ datacenterRef: { name: "none" }, public: false })],
];

const objectsOf = (kind: string, specOf: (name: string) => object): Manifest[] =>
  names.map((name) => manifest(kind, name, Object(specOf(name))));

describe("B gets on while A", () => {
  it("has forty Accounts that log in: as many Secrets with tokens as Accounts are allowed, and the Lease stays", async () => {
    const login = { username: "mallory@example.org", password: "the-password-of-mallory" };
    await platform.steering.call("POST", "/_simulator/users", { ...login, role: "administrator" });
    const { spec } = z.looseObject({ spec: z.looseObject({}) }).parse(await b.read("Account", "main"));
    const own = { ...spec, credentialsSecretRef: { name: "login" }, tokenLifetime: "1d" };
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "login" }, stringData: login };
    await apply(secret, ...objectsOf("Account", () => own));
    await expect.poll(() => refused("Account")).toBe(MADE - ALLOWED);
    await a.untilReady("Account", nameOf(0));
    await bGetsOn("accounts");
    await expect.poll(tokenSecrets).toBe(ALLOWED);
    const lease = `/apis/coordination.k8s.io/v1/namespaces/${b.namespace}/leases/mooring`;
    expect(await b.admin.request({ method: "GET", path: lease })).toMatchObject({ spec: { leaseTransitions: 0 } });
    const found = await a.read("Account", nameOf(MADE - 1));
    expect(found && readyOf(found)?.message).toMatch(/^a namespace may have 5 Account objects.*delete some/);
  });

  it.each(specs)("has more %s than a namespace may have: the newest say so, and B gets on", async (kind, specOf) => {
    await apply(...objectsOf(kind, specOf));
    await expect.poll(() => refused(kind)).toBe(MADE - ALLOWED);
    await bGetsOn(kind);
    const first = nameOf(0);
    const before = (await reasons(kind)).indexOf("TooManyObjects");
    await asA(["delete", kind.toLowerCase(), first, "--wait=false"]);
    await a.untilGone(kind, first);
    // The oldest waiting object gets the place.
    await expect.poll(async () => (await reasons(kind))[before]).not.toBe("TooManyObjects");
    expect(await refused(kind)).toBe(MADE - ALLOWED - 1);
  });

  it("has as many ConfigMaps that look like Mooring's", async () => {
    const owner = await a.read("Grant", nameOf(1));
    const { uid = "", name = "" } = owner?.metadata ?? {};
    const metadata = {
      labels: { "app.kubernetes.io/managed-by": "mooring" },
      annotations: { note: "x".repeat(200_000) },
      ownerReferences: [{ apiVersion: "mooring.dev/v1alpha1", kind: "Grant", name, uid, controller: true }],
    };
    const maps = names.map((each) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { ...metadata, name: `forged-${each}` },
    }));
    for (const map of maps) await apply(map);
    await bGetsOn("configmaps");
  });
});

async function tokenSecrets(): Promise<number> {
  const listed = z.looseObject({ items: z.array(z.looseObject({ metadata: z.looseObject({ name: z.string() }) })) });
  const path = pathOf(SECRETS, { namespace: b.namespace });
  const { items } = listed.parse(await b.admin.request({ method: "GET", path }));
  return items.filter(({ metadata }) => metadata.name.startsWith(`${KEPT_TOKEN}-`)).length;
}
