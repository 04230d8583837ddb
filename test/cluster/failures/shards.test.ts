import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { startCluster } from "../../../src/cli/control-plane/start.ts";
import { applyObject } from "../../../src/cli/demo/install.ts";
import { SHARD } from "../../../src/engine/state/names.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import type { OperatorProcess } from "../chaos/operator.ts";
import { type Platform, startPlatform } from "../chaos/platform.ts";
import { openStage, type Stage, unsettled } from "../chaos/stage.ts";
import { datacenter } from "../objects.ts";

// Two operators with the rights that ship, on one API server: one without a shard, one for shard a.
const cleanup = new AsyncDisposableStack();
let stage: Stage;
let platform: Platform;
/** The operator without a shard, and that of shard a. */
let home: OperatorProcess;
let shard: OperatorProcess;

const labelled = (name: string, value?: string) =>
  applyObject(stage.admin, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels: value === undefined ? {} : { [SHARD]: value } },
  });
const pathTo = (namespace: string) => `/apis/mooring.dev/v1alpha1/namespaces/${namespace}/datacenters/web`;
const read = (namespace: string) => stage.admin.request<KubeObject>({ method: "GET", path: pathTo(namespace) });
const apply = (namespace: string, spec: object = {}) => {
  const { metadata, ...object } = datacenter("web", spec);
  return applyObject(stage.admin, { ...object, metadata: { ...metadata, namespace } });
};
const untilReady = (namespace: string) => expect.poll(async () => unsettled(await read(namespace))).toBeUndefined();
const idOf = async (namespace: string) => readStatus(await read(namespace)).id;
/** The operators that logged a decision about the Datacenter of a namespace, from a position in their logs on. */
const workers = (namespace: string, since = { home: 0, shard: 0 }) =>
  Object.entries({ home, shard }).flatMap(([name, operator]) => {
    const lines = operator
      .log()
      .slice(name === "home" ? since.home : since.shard)
      .split("\n");
    const decided = (line: string) => line.includes('"decided"') && line.includes(`"Datacenter/${namespace}/web"`);
    return lines.some(decided) ? [name] : [];
  });
const soFar = () => ({ home: home.log().length, shard: shard.log().length });

beforeAll(async () => {
  const control = await startCluster();
  cleanup.defer(control.stop);
  platform = cleanup.use(await startPlatform());
  stage = cleanup.use(await openStage(control.kubeconfig, undefined, ["a"]));
  await labelled("orders", "a");
  await labelled("shop");
  await labelled("lost", "nobody");
  const { url: api, token } = platform;
  await stage.apply(
    { apiVersion: "v1", kind: "Secret", metadata: { name: "token" }, stringData: { token } },
    {
      apiVersion: "mooring.dev/v1alpha1",
      kind: "ClusterAccount",
      metadata: { name: "shared" },
      spec: {
        endpoints: { api },
        credentialsSecretRef: { name: "token" },
        namespaces: { selector: {} },
        kinds: ["Datacenter"],
        default: true,
      },
    },
  );
  const start = (...flags: string[]) => stage.operator({ everywhere: true, flags: ["--log-level", "debug", ...flags] });
  [home, shard] = await Promise.all([start(), start("--shard", "a")]);
});
afterAll(() => cleanup.disposeAsync());

const events = z.object({
  items: z.array(z.looseObject({ reason: z.string(), message: z.string(), involvedObject: z.looseObject({}) })),
});

describe("two shards", () => {
  it("work on the namespaces that name them, each with a Lease of its own, through one ClusterAccount", async () => {
    await Promise.all(["shop", "orders", "lost"].map((namespace) => apply(namespace)));
    await untilReady("shop");
    await untilReady("orders");
    expect([workers("shop"), workers("orders"), workers("lost")]).toEqual([["home"], ["shard"], []]);
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${stage.namespace}/leases`;
    const held = z.object({ spec: z.object({ holderIdentity: z.string().min(1) }) });
    for (const name of ["mooring", "mooring-a"]) {
      held.parse(await stage.admin.request({ method: "GET", path: `${leases}/${name}` }));
    }
    const ids = await Promise.all(["shop", "orders"].map(idOf));
    expect((await platform.named("datacenters", "web")).map(({ id }) => id).sort()).toEqual(ids.sort());
  });

  it("hand a namespace over when its label changes, to and fro, and edits are made by the one that has it", async () => {
    const id = await idOf("orders");
    for (const [label, worker] of [[undefined, "home"] as const, ["a", "shard"] as const]) {
      const before = soFar();
      await labelled("orders", label);
      await expect.poll(() => workers("orders", before)).toContain(worker);
      const moved = soFar();
      await apply("orders", { description: `by ${worker}` });
      await untilReady("orders");
      expect(workers("orders", moved)).toEqual([worker]);
      const found = await platform.named("datacenters", "web");
      expect(found.find((each) => each.id === id)?.properties?.description).toBe(`by ${worker}`);
      expect(found).toHaveLength(2);
    }
  });

  it("count each object once", async () => {
    const counted = async (operator: OperatorProcess, namespace: string) =>
      operator.metric(`mooring_objects{kind="Datacenter",namespace="${namespace}"`);
    expect([await counted(home, "shop"), await counted(home, "orders")]).toEqual([1, 0]);
    expect([await counted(shard, "shop"), await counted(shard, "orders")]).toEqual([0, 1]);
  });

  it("tell of a namespace whose shard does not run, by an Event and a metric", async () => {
    const path = "/api/v1/namespaces/lost/events";
    const reported = async () => events.parse(await stage.admin.request({ method: "GET", path })).items;
    await expect.poll(async () => (await reported()).map(({ reason }) => reason)).toEqual(["ShardNotRunning"]);
    const [event] = await reported();
    expect(event?.message).toBe(
      "shard nobody is not running: objects of this namespace are not reconciled; start it, or change or remove the label mooring.dev/shard",
    );
    expect(event?.involvedObject).toMatchObject({ kind: "Namespace", name: "lost" });
    await expect.poll(() => home.metric("mooring_unserved_namespaces{")).toBe(1);
    expect(readStatus(await read("lost")).id).toBeUndefined();
    // It may learn that its Lease does not exist.
    expect(await home.metric('rest_client_requests_total{code="404"')).toBeGreaterThan(0);
    expect(await home.metric('rest_client_requests_total{code="403"')).toBe(0);
  });
});
