import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { startCluster } from "../../../src/cli/control-plane/start.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import { startSimulator } from "../../../src/simulator/start.ts";
import { audit } from "../audit.ts";
import { startCuttableProxy } from "../chaos/cut.ts";
import type { OperatorProcess } from "../chaos/operator.ts";
import { startPlatform } from "../chaos/platform.ts";
import { openStage, type Stage } from "../chaos/stage.ts";
import { until } from "../chaos/wait.ts";
import { api, type Landscape, landscape } from "../landscape.ts";
import { datacenter, ipBlock, lan, metricPipeline } from "../objects.ts";
import { type Steering, steer } from "../steering.ts";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

const account = (name: string, spec: object) => ({ apiVersion: api, kind: "Account", metadata: { name }, spec });
const secret = (name: string, token: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  stringData: { token },
});
const accountSpec = z.looseObject({ endpoints: z.record(z.string(), z.string()) });
const condition = (type: string, field: string) => `{.status.conditions[?(@.type=="${type}")].${field}}`;

describe("an Account that leads somewhere else", () => {
  let world: Landscape;
  let home: z.output<typeof accountSpec>;
  const main = { accountRef: { name: "main" } };
  const objects = ["datacenter/dc", "lan/net", "ipblock/block", "metricpipeline/web"];

  const ids = (names = objects) => Promise.all(names.map((name) => world.value(name, "{.status.id}")));
  const conditionOf = (name: string) =>
    world.value(name, `${condition("Ready", "reason")} ${condition("Stalled", "status")}`);
  const reasons = async (names = objects) =>
    Object.fromEntries(await Promise.all(names.map(async (name) => [name, await conditionOf(name)])));
  const all = (text: string, names = objects) => Object.fromEntries(names.map((name) => [name, text]));

  /** Another platform. The contract number depends on the seed; the default landscape has seed 1. */
  async function elsewhere(seed: number) {
    const simulator = await startSimulator({ seed, speed: 60 });
    cleanup.defer(simulator.close);
    const { endpoints, token } = simulator.ready;
    await world.apply(secret(`token-${seed}`, token));
    const moved = account("main", { ...home, endpoints, credentialsSecretRef: { name: `token-${seed}` } });
    return { there: steer(endpoints.api, token), moved };
  }

  /** Waits for more checks of the Account there, in which its objects could have been reconciled as well. */
  async function untilAccountRead({ calls }: Steering): Promise<void> {
    const reads = async () => (await calls()).byRoute["GET /cloudapi/v6/contracts"] ?? 0;
    const before = await reads();
    await expect.poll(reads).toBeGreaterThan(before + 2);
  }

  beforeAll(async () => {
    world = await landscape({
      simulator: ["--speed", "60"],
      operator: ["--create-deadline", "3s", "--settle", "3s", "--retry", "1s", "--resync", "2s"],
    });
    home = accountSpec.parse(JSON.parse(await world.value("account/main", "{.spec}")));
    await world.apply(datacenter("dc", main), lan("net", main), ipBlock("block", main), metricPipeline("web", main));
  });

  beforeEach(async () => {
    await world.apply(account("main", home));
    await world.untilReady(...objects);
  });

  it("by its contract, with the same address, forgets and creates nothing, and back there all is as before", async () => {
    const port = (url: string) => Number(new URL(url).port);
    const cable = cleanup.use(await startCuttableProxy(port(world.platform.url)));
    const through = `http://127.0.0.1:${cable.port}`;
    const leads = Object.entries(home.endpoints).map(([name, url]) => [name, url.replace(world.platform.url, through)]);
    const spec = { ...home, endpoints: Object.fromEntries(leads), credentialsSecretRef: { name: "cable" } };
    const cabled = { accountRef: { name: "cable" } };
    const names = ["datacenter/far", "metricpipeline/far"];
    await world.apply(secret("cable", world.platform.token), account("cable", spec));
    await world.apply(datacenter("far", cabled), metricPipeline("far", cabled));
    await world.untilReady(...names);
    const before = await ids(names);
    const { there } = await elsewhere(2);
    cable.leadTo(port(there.url));
    await world.apply(secret("cable", there.token));
    await expect
      .poll(async () => ({ made: await there.made(), ...(await reasons(names)) }))
      .toEqual({ made: {}, ...all("ContractChanged True", names) });
    await untilAccountRead(there);
    expect(await there.writes()).toEqual([]);

    await world.platform.resetCalls();
    cable.leadTo(port(world.platform.url));
    await world.apply(secret("cable", world.platform.token));
    await expect.poll(() => reasons(names)).toEqual(all("Available ", names));
    expect(await ids(names)).toEqual(before);
    expect(await world.platform.writes()).toEqual([]);
  });

  it("by its region holds what is of that region, and nothing else", async () => {
    const before = await ids();
    await world.platform.resetCalls();
    await world.apply(account("main", { ...home, region: "de/fra" }));
    await expect.poll(() => reasons()).toEqual({ ...all("Available "), "metricpipeline/web": "AccountMoved True" });
    expect(await world.value("metricpipeline/web", condition("Stalled", "message"))).toContain("de-txl");
    await untilAccountRead(world.platform);
    await world.apply(account("main", home));
    await expect.poll(() => reasons()).toEqual(all("Available "));
    expect(await ids()).toEqual(before);
    expect(await world.platform.writes()).toEqual([]);
  });

  it("by its endpoints forgets and creates nothing: all stall with the way out, and back there all is as before", async () => {
    const before = await ids();
    const { there, moved } = await elsewhere(1);
    await world.apply(moved);
    await expect
      .poll(async () => ({ made: await there.made(), ...(await reasons()) }))
      .toEqual({ made: {}, ...all("AccountMoved True") });
    for (const name of objects) {
      const message = await world.value(name, condition("Stalled", "message"));
      expect(message).toContain(world.platform.url);
      expect(message).toContain("spec.endpoints");
    }
    await untilAccountRead(there);
    expect(await there.writes()).toEqual([]);
    expect(await ids()).toEqual(before);

    await world.platform.resetCalls();
    await world.apply(account("main", home));
    await expect.poll(() => reasons()).toEqual(all("Available "));
    expect(await ids()).toEqual(before);
    expect(await world.platform.writes()).toEqual([]);
  });

  it("lets nothing go: what is deleted meanwhile goes once the Account leads back to it", async () => {
    const [, , block] = await ids();
    const { moved } = await elsewhere(1);
    await world.apply(moved);
    await expect.poll(() => conditionOf("ipblock/block")).toBe("AccountMoved True");
    await world.askToRemove("ipblock/block");
    await expect.poll(() => world.value("ipblock/block", "{.metadata.deletionTimestamp}")).not.toBe("");
    await expect.poll(() => conditionOf("ipblock/block")).toBe("AccountMoved True");
    const blocks = async () => (await world.platform.resources("ipblocks")).map(({ id }) => id);
    expect(await blocks()).toEqual([block]);
    await world.apply(account("main", home));
    await world.untilGone("ipblock/block");
    expect(await blocks()).toEqual([]);
  });
});

describe("an object that waits for its namespace's own Account", () => {
  let shared: Stage;
  let tenant: Stage;
  let operator: OperatorProcess;
  let admin: string;
  const reasonOf = async (name: string) => {
    const object = await tenant.read("IPBlock", name);
    return object && readStatus(object).conditions?.find(({ type }) => type === "Ready")?.reason;
  };
  const start = () => shared.operator({ everywhere: true, flags: ["--resync", "2s", "--cluster-name", "none"] });
  const platforms = { default: startPlatform({ speed: 200 }), own: startPlatform({ speed: 200 }) };

  // This operator watches all namespaces, so it needs a control plane without objects of other tests.
  beforeAll(async () => {
    const control = await startCluster({ audit: audit() });
    admin = control.kubeconfig;
    cleanup.defer(control.stop);
    for (const platform of Object.values(platforms)) cleanup.use(await platform);
    shared = cleanup.use(await openStage(control.kubeconfig));
    tenant = cleanup.use(await openStage(control.kubeconfig));
    await shared.account(await platforms.default);
    const endpoints = { api: (await platforms.default).url };
    const open = { default: true, namespaces: { selector: {} } };
    await shared.apply({
      ...account("shared", { endpoints, credentialsSecretRef: { name: "main" }, ...open }),
      kind: "ClusterAccount",
    });
    operator = await start();
    await shared.untilReady("ClusterAccount", "shared");
  });

  const madeByDefault = async () => (await platforms.default).named("ipblocks", "waiting");

  it("is not created through the default ClusterAccount when its own is deleted; it says AccountNotFound", async () => {
    await using other = await openStage(admin);
    await tenant.apply({
      apiVersion: api,
      kind: "Account",
      metadata: { name: "mine" },
      spec: { endpoints: { api: (await platforms.own).url }, credentialsSecretRef: { name: "mine" } },
    });
    await tenant.untilReason("Account", "mine", "CredentialsMissing");
    await tenant.apply(ipBlock("waiting"));
    await tenant.untilReason("IPBlock", "waiting", "AccountNotReady");
    await tenant.remove("Account", "mine");
    await tenant.untilGone("Account", "mine");
    await until(
      async () => {
        const made = (await madeByDefault()).length > 0;
        const reason = await reasonOf("waiting");
        return made || reason === "AccountNotFound" ? undefined : `it is ${reason}`;
      },
      { title: "waiting" },
    );
    expect(await madeByDefault()).toEqual([]);
    expect(await reasonOf("waiting")).toBe("AccountNotFound");
    // Without an Account, the default ClusterAccount is used.
    await other.apply(ipBlock("by-default"));
    await other.untilReady("IPBlock", "by-default");
    expect(await madeByDefault()).toEqual([]);
    await other.remove("IPBlock", "by-default");
    await other.untilGone("IPBlock", "by-default");
  });

  it("is not created there by the next operator either", async () => {
    await operator.stop();
    operator = await start();
    await operator.untilLeading();
    await shared.apply(ipBlock("later"));
    await shared.untilReady("IPBlock", "later");
    expect(await madeByDefault()).toEqual([]);
    expect(await reasonOf("waiting")).toBe("AccountNotFound");
  });

  it("is created as soon as there is an Account of its namespace again", async () => {
    const own = await platforms.own;
    await tenant.account(own, "mine");
    await tenant.untilReady("IPBlock", "waiting");
    expect(await own.named("ipblocks", "waiting")).toHaveLength(1);
    expect(await madeByDefault()).toEqual([]);
  });
});
