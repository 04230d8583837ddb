import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCluster } from "../../src/cli/control-plane/start.ts";
import { readStatus } from "../../src/engine/status/status.ts";
import { pathOf, SECRETS } from "../../src/kube/resource.ts";
import { defectsIn, type OperatorProcess } from "../cluster/chaos/operator.ts";
import { type Platform, startPlatform } from "../cluster/chaos/platform.ts";
import { openStage, type Stage } from "../cluster/chaos/stage.ts";
import { kubectl, type TestCluster } from "../cluster/harness.ts";
import { datacenter, ipBlock, logPipeline } from "../cluster/objects.ts";
import { manifest } from "../subjects/surroundings.ts";
import { contracts, type HostileEndpoint, hostileEndpoint } from "./hostile-endpoint.ts";

// One operator for all namespaces, so it needs a control plane of its own. A has the shipped tenant rights and tries to
// stop the operator. Meanwhile B gets one object after the other to Ready. The attacks add up: none is undone. Only B
// uses IPBlocks and the simulator, where its passes and calls are counted.
const cleanup = new AsyncDisposableStack();
let run: TestCluster["kubectl"];
let platform: Platform;
let operator: OperatorProcess;
let a: Stage;
let b: Stage;
let alone: Cost;

// A creation may hang longer than any test here waits for B.
const WORKERS = 16;
const flags = [
  "--create-deadline",
  "110s",
  "--annotate-after",
  "1h",
  "--log-level",
  "debug",
  "--workers",
  `${WORKERS}`,
];

beforeAll(async () => {
  const control = await startCluster();
  cleanup.defer(control.stop);
  run = kubectl(control.assets, control.kubeconfig);
  platform = cleanup.use(await startPlatform({ speed: 200 }));
  b = cleanup.use(await openStage(control.kubeconfig));
  a = cleanup.use(await openStage(control.kubeconfig));
  // No controller aggregates roles here. These are the relevant parts of `admin`.
  for (const role of ["mooring-view", "mooring-edit", "mooring-admin", "system:aggregate-to-edit"]) {
    const binding = ["create", "rolebinding", role.replace(":", "-"), `--clusterrole=${role}`, "--user=mallory"];
    await done(run(["-n", a.namespace, ...binding]));
  }
  // Labels of the cluster are written at a time of their own, seconds after the object that is counted.
  operator = await b.operator({ everywhere: true, flags: [...flags, "--cluster-name", "none"] });
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

/** A applies objects in its own namespace, with its own rights. */
async function apply(...objects: object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  await done(run(["-n", a.namespace, "--as=mallory", "apply", "--server-side", "-f", "-"], { input }));
}

const secretOf = (name: string, token = `token-of-${name}`) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  stringData: { token },
});
const accountOf = (name: string, { url }: { url: string }, endpoints: object = {}) =>
  manifest("Account", name, { endpoints: { api: url, ...endpoints }, credentialsSecretRef: { name } });

/** An endpoint of A, and Accounts that use it, each with its own token. */
async function attack(names: string[], answer: Parameters<typeof hostileEndpoint>[0]): Promise<HostileEndpoint> {
  const endpoint = cleanup.use(await hostileEndpoint(answer));
  await apply(...names.flatMap((name) => [secretOf(name), accountOf(name, endpoint)]));
  return endpoint;
}

interface Cost {
  passes: number;
  calls: number;
}

const passesOverB = () => operator.metric('controller_runtime_reconcile_total{controller="ipblock"');
const activeWorkers = () => operator.metric("controller_runtime_active_workers");

/** The cost for B of getting an object to Ready. */
async function cost(name: string): Promise<Cost> {
  await platform.steering.resetCalls();
  const before = await passesOverB();
  await b.apply(ipBlock(name));
  await b.untilReady("IPBlock", name);
  const routes = Object.entries((await platform.steering.calls()).byRoute);
  const own = routes.filter(([route]) => !route.includes("/contracts"));
  return { passes: (await passesOverB()) - before, calls: own.reduce((sum, [, count]) => sum + count, 0) };
}

/** B works as if it were alone, and the operator is still the same process. */
async function bGetsOn(name: string): Promise<void> {
  const { passes, calls } = await cost(name);
  console.log(`B during "${name}": ${passes} passes, ${calls} calls (alone ${alone.passes}, ${alone.calls})`);
  expect(passes).toBeLessThan(3 * alone.passes);
  expect(calls).toBeLessThan(3 * alone.calls);
  expect(operator.exitCode()).toBeUndefined();
  expect(defectsIn(operator.log())).toEqual([]);
}

const messageOf = async (kind: string, name: string) => {
  const object = await a.read(kind, name);
  return object && readStatus(object).conditions?.find(({ type }) => type === "Ready")?.message;
};

describe("B gets on while A", () => {
  it("has 16 Accounts that are told to come back in 999999 seconds: no worker waits for that", async () => {
    const names = Array.from({ length: 16 }, (_, nth) => `throttled-${nth}`);
    const { arrived } = await attack(names, (_, response) => {
      response.writeHead(429, { "retry-after": "999999" }).end();
    });
    await expect.poll(() => arrived.length).toBeGreaterThanOrEqual(16);
    await bGetsOn("throttled");
    await expect.poll(activeWorkers).toBe(0);
    // Once each, and once more for each object or Secret that was new at that time.
    expect(arrived.length).toBeLessThanOrEqual(48);
  });

  it("has a contract with 20,000 limits, or as many as are read: the status of its Account stays small", async () => {
    const limits = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`limit${n}`, n]));
    await attack(["limits"], () => contracts({ resourceLimits: limits(20_000) }));
    await attack(["fewer-limits"], () => contracts({ resourceLimits: limits(5_000) }));
    await expect.poll(() => messageOf("Account", "limits")).toContain("more than 5,000 fields");
    await a.untilReady("Account", "fewer-limits");
    for (const name of ["limits", "fewer-limits"]) {
      expect(JSON.stringify((await a.read("Account", name))?.status).length).toBeLessThan(5_000);
    }
    await bGetsOn("limits");
  });

  it("has a list whose pages never end", async () => {
    let pages = 0;
    await attack(["pages"], ({ method, url }) => {
      if (url.pathname.endsWith("/contracts")) return contracts();
      if (method === "POST") return { id: "99999999-0000-4000-8000-000000000000", properties: {} };
      pages += 1;
      const id = `00000000-0000-4000-8000-${String(pages).padStart(12, "0")}`;
      return { limit: 1, items: [{ id, metadata: { state: "AVAILABLE" }, properties: { name: id } }] };
    });
    await apply(datacenter("endless", { accountRef: { name: "pages" } }));
    await expect.poll(() => messageOf("Datacenter", "endless")).toContain("more than 200 pages");
    await bGetsOn("pages");
  });

  it("has a list of 48 MB of empty objects: it is not read to its end", async () => {
    const piece = "{},".repeat(100_000);
    const unread: number[] = [];
    await attack(["flood"], ({ method, url }, response) => {
      if (url.pathname.endsWith("/contracts")) return contracts();
      if (method === "POST") return { id: "99999999-0000-4000-8000-000000000001", properties: {} };
      let left = 48_000_000;
      response.on("close", () => unread.push(left));
      const more = () => {
        while (left > 0 && !response.destroyed) {
          left -= piece.length;
          if (!response.write(piece)) return;
        }
        response.end("{}]}");
      };
      response.writeHead(200, { "content-type": "application/json" }).write('{"items":[');
      response.on("drain", more);
      more();
      return undefined;
    });
    await apply(datacenter("flooded", { accountRef: { name: "flood" } }));
    await expect.poll(() => messageOf("Datacenter", "flooded")).toContain("larger than 4 MiB");
    await bGetsOn("flood");
    expect(unread.length).toBeGreaterThan(0);
    expect(Math.min(...unread)).toBeGreaterThan(0);
  });

  it("has 300 Accounts without Secrets: they cost no watch and no socket", async () => {
    const watches = async () =>
      (await done(run(["get", "--raw", "/metrics"])))
        .split("\n")
        .filter((line) => /^apiserver_longrunning_requests\{.*verb="WATCH"/.test(line))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
    const files = () => operator.metric("process_open_fds");
    const before = { watches: await watches(), files: await files() };
    const names = Array.from({ length: 300 }, (_, nth) => `bare-${nth}`);
    await apply(...names.map((name) => accountOf(name, { url: "http://127.0.0.1:9" })));
    await Promise.all(
      [names[0], names[150], names[299]].map((name = "") => a.untilReason("Account", name, "CredentialsMissing")),
    );
    await bGetsOn("bare");
    expect(await watches()).toBeLessThanOrEqual(before.watches);
    expect(await files()).toBeLessThan(before.files + 50);
  });

  it("edits a Secret 60 times: that is no pass over any object of B", async () => {
    await apply(secretOf("edited", platform.token), accountOf("edited", platform));
    await a.untilReady("Account", "edited");
    const before = await passesOverB();
    const path = pathOf(SECRETS, { namespace: a.namespace, name: "edited" });
    const contentType = "application/merge-patch+json";
    for (let nth = 1; nth <= 60; nth++) {
      const body = { stringData: { token: nth % 2 === 0 ? platform.token : "a-bad-one" } };
      await a.admin.request({ method: "PATCH", path, contentType, body });
    }
    await a.untilReady("Account", "edited");
    expect(await passesOverB()).toBe(before);
    await bGetsOn("edited");
  });

  it("names endpoints of its own: hosts are no labels, and what its Accounts have added goes with them", async () => {
    const endpoint = cleanup.use(
      await hostileEndpoint(({ url }) => (url.pathname.endsWith("/contracts") ? contracts() : { items: [] })),
    );
    const labels = async () => (await fetch(`${urlOf(operator)}/metrics`)).text();
    const observed = { managementPolicy: "Observe", externalId: "99999999-0000-4000-8000-000000000002" };
    await apply(secretOf("named"), accountOf("named", endpoint, { logging: `${endpoint.url}/mine` }));
    await apply(logPipeline("named", { accountRef: { name: "named" }, ...observed }));
    await expect.poll(labels).toContain('route="/mine/');
    await done(
      run(["-n", a.namespace, "--as=mallory", "delete", "--wait=false", "logpipeline/named", "account/named"]),
    );
    await a.untilGone("Account", "named");
    await bGetsOn("labels");
    const left = await labels();
    expect(left).not.toContain('route="/mine/');
    expect(left).not.toContain(new URL(endpoint.url).host);
  });

  it("has an endpoint that hangs on writes, and 100 objects: they hold three eighths of the workers", async () => {
    const { open } = await attack(["hanging"], ({ method, url }) => {
      if (method !== "GET") return undefined;
      return url.pathname.endsWith("/contracts") ? contracts() : { items: [] };
    });
    await a.untilReady("Account", "hanging");
    await apply(
      ...Array.from({ length: 100 }, (_, nth) => datacenter(`hung-${nth}`, { accountRef: { name: "hanging" } })),
    );
    await expect.poll(open).toBe(6);
    await bGetsOn("hanging");
    expect(open()).toBe(6);
  });

  it("has 40 Accounts whose endpoint never answers as well: A holds half of the workers", async () => {
    const names = Array.from({ length: 40 }, (_, nth) => `silent-${nth}`);
    const { open } = await attack(names, () => undefined);
    // The passes that already hang leave them the rest of the namespace's half.
    await expect.poll(open).toBeGreaterThanOrEqual(2);
    await bGetsOn("silent");
    expect(await activeWorkers()).toBeLessThanOrEqual(8);
  });
});

const urlOf = ({ log }: OperatorProcess): string => /"url":"(http[^"]+)"/.exec(log())?.[1] ?? "";

// The grace period of Kubernetes before it kills a pod.
it("a stop in the middle of that aborts what hangs, and gives the Lease back", { timeout: 30_000 }, async () => {
  expect((await fetch(`${urlOf(operator)}/healthz`)).status).toBe(200);
  expect(await activeWorkers()).toBeGreaterThan(0);
  expect(await operator.stop()).toBe(0);
  const path = `/apis/coordination.k8s.io/v1/namespaces/${b.namespace}/leases/mooring`;
  expect(await b.admin.request({ method: "GET", path })).toMatchObject({ spec: { holderIdentity: "" } });
});
