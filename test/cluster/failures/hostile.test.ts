import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCluster } from "../../../src/cli/control-plane/start.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import { drain, flood } from "../chaos/flood.ts";
import { manifests } from "../chaos/manifests.ts";
import { defectsIn, type OperatorProcess } from "../chaos/operator.ts";
import { type Platform, startPlatform } from "../chaos/platform.ts";
import { openStage, type Stage } from "../chaos/stage.ts";
import { datacenter } from "../objects.ts";

const cleanup = new AsyncDisposableStack();
let kubeconfig: string;
let stage: Stage;
let platform: Platform;
let operator: OperatorProcess;

// This operator watches all namespaces, so it needs a control plane without objects of other tests.
beforeAll(async () => {
  const control = await startCluster();
  kubeconfig = control.kubeconfig;
  cleanup.defer(control.stop);
  platform = cleanup.use(await startPlatform({ speed: 200 }));
  stage = cleanup.use(await openStage(kubeconfig));
  operator = await stage.operator({ everywhere: true, flags: ["--log-level", "debug"] });
  await stage.account(platform);
  await stage.untilReady("Account", "main");
});
afterAll(() => cleanup.disposeAsync());

describe("annotations that a tenant writes", () => {
  it("reach into no Account of another namespace", async () => {
    await stage.apply(datacenter("prize"));
    const id = readStatus(await stage.untilReady("Datacenter", "prize")).id ?? "";
    const [before] = await platform.named("datacenters", "prize");
    await using tenant = await openStage(kubeconfig);
    const account = `${stage.namespace}/main`;
    const forged = (name: string, annotation: string, value: object) => ({
      ...datacenter(name, { description: "forged" }),
      metadata: { name, annotations: { [`mooring.dev/${annotation}`]: JSON.stringify(value) } },
    });
    await tenant.apply(
      forged("thief", "external-id", { id, parents: {}, account, owner: `${tenant.namespace}/thief` }),
      forged("squatter", "intent", { nonce: "n", at: new Date().toISOString(), hash: "h", parents: {}, account }),
    );
    await tenant.untilReason("Datacenter", "thief", "AccountNotFound");
    await tenant.untilReason("Datacenter", "squatter", "AccountNotFound");
    await tenant.remove("Datacenter", "thief");
    expect(await platform.steering.resources("datacenters")).toEqual([before]);
  });
});

/** A twentieth of the manifests of `make soak`. */
const COUNT = 250;

describe(`${COUNT} generated manifests, valid, nearly valid and hostile`, () => {
  it("are borne: the operator goes on, says nothing of a defect, works, and gives its memory back", async () => {
    await flood(stage, manifests(COUNT, 1));
    await drain(stage, ["main"], 90_000);
    const before = await operator.heapInUse();
    const { accepted, refused } = await flood(stage, manifests(COUNT, 2));
    expect(Math.min(accepted, refused)).toBeGreaterThan(COUNT / 10);
    await drain(stage, ["main"], 90_000);

    await stage.apply(datacenter("good"));
    await stage.untilReady("Datacenter", "good");
    // If an object is deleted during its creation, its resource is deleted later, and no object shows when.
    const names = async () =>
      (await platform.steering.resources("datacenters")).map(({ properties }) => properties?.name ?? "");
    await expect.poll(names, { timeout: 30_000 }).toEqual(["good"]);
    expect(operator.exitCode()).toBeUndefined();
    expect(defectsIn(operator.log())).toEqual([]);
    expect(
      operator
        .log()
        .split("\n")
        .filter((line) => line.includes('"level":"error"')),
    ).toEqual([]);
    expect((await operator.heapInUse()) / before).toBeLessThan(1.3);
  }, 240_000);
});
