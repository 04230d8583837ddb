import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCluster } from "../../../src/cli/control-plane/start.ts";
import { EXTERNAL_ID } from "../../../src/engine/state/names.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import { isNotFound } from "../../../src/kube/client/errors.ts";
import { type KubeObject, LAST_APPLIED, pathOf, SECRETS } from "../../../src/kube/resource.ts";
import { INSTALLATION, SHARED_NAMESPACE } from "../../../src/operator/installation.ts";
import { SIGNING_KEY } from "../../../src/operator/signing-key.ts";
import { type OperatorProcess, onThisMachine, startOperator } from "../chaos/operator.ts";
import { type OwnPlatform, startPlatform } from "../chaos/platform.ts";
import { openStage, type Stage } from "../chaos/stage.ts";
import { until } from "../chaos/wait.ts";
import { cluster, kubectl } from "../harness.ts";
import { datacenter, ipBlock, lan } from "../objects.ts";

const flags = ["--annotate-after", "1s", "--recheck", "2s", "--resync", "2s", "--cluster-name", "none"];
const RECONCILES = "controller_runtime_reconcile_total";

/** Creations since the platform's counters were reset. */
const creations = async (platform: OwnPlatform) =>
  Object.keys((await platform.steering.calls()).byRoute).filter((route) => /^POST |\/generate$/.test(route));

/** Waits until an operator has reconciled everything several more times. */
async function untilRechecked(operator: OperatorProcess, times = 20): Promise<void> {
  const before = await operator.metric(RECONCILES);
  await expect.poll(() => operator.metric(RECONCILES), { timeout: 120_000 }).toBeGreaterThan(before + times);
}

describe("objects and their signing key", () => {
  const cleanup = new AsyncDisposableStack();
  const names = [
    ["Datacenter", "one"],
    ["Datacenter", "two"],
    ["IPBlock", "three"],
    ["Lan", "four"],
  ] as const;
  const { kubectl: anywhere } = cluster();
  let platform: OwnPlatform;
  let stage: Stage;
  let operator: OperatorProcess;
  let key: KubeObject;

  const keyPath = (name?: string) => pathOf(SECRETS, { namespace: stage.namespace, name });
  const readKey = () => stage.admin.request<KubeObject>({ method: "GET", path: keyPath(SIGNING_KEY) });
  const setKeys = (data: Record<string, string | null>) =>
    stage.admin.request({
      method: "PATCH",
      path: keyPath(SIGNING_KEY),
      contentType: "application/merge-patch+json",
      body: { data },
    });
  const restoreKey = async () => {
    const { metadata, ...rest } = key;
    const { name, namespace = "", labels = {} } = metadata;
    await stage.admin.request({
      method: "POST",
      path: keyPath(),
      body: { ...rest, metadata: { name, namespace, labels } },
    });
  };
  const current = () => String(Reflect.get(Object(key.data), "current"));
  const other = Buffer.from("another key of thirty-two bytes").toString("base64");
  const untilAll = async (reason: string) => {
    for (const [kind, name] of names) await stage.untilReason(kind, name, reason);
  };
  const untilAllReady = async () => {
    for (const [kind, name] of names) await stage.untilReady(kind, name);
  };
  const works = async (...args: string[]) => {
    const { code, stdout, stderr } = await anywhere(["-n", stage.namespace, ...args]);
    expect(code, `${stdout}${stderr}`).toBe(0);
  };

  beforeAll(async () => {
    platform = cleanup.use(await startPlatform({ speed: 200 }));
    stage = cleanup.use(await openStage(cluster().kubeconfig));
    operator = await stage.operator({ flags });
    await stage.account(platform);
    const objects = [
      datacenter("one"),
      datacenter("two"),
      ipBlock("three"),
      lan("four", { datacenterRef: { name: "one" } }),
    ];
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
    const applied = await anywhere(["-n", stage.namespace, "apply", "-f", "-"], { input });
    expect(applied.code, applied.stderr).toBe(0);
    await untilAllReady();
    for (const [kind, name] of names) {
      const isKept = async () => {
        const { annotations = {} } = (await stage.read(kind, name))?.metadata ?? {};
        return EXTERNAL_ID in annotations && LAST_APPLIED in annotations ? undefined : "its id is not kept";
      };
      await until(isKept, { title: `${kind} ${name}` });
    }
    key = await readKey();
  });
  afterAll(() => cleanup.disposeAsync());

  it("wait for a key that is not there, whatever happens meanwhile, and go on when it is back", async () => {
    await operator.kill();
    await setKeys({ current: other });
    await platform.steering.resetCalls();
    operator = await stage.operator({ flags });
    await untilAll("SigningKeyUnknown");
    await untilRechecked(operator);
    for (const [kind, name] of names) await works("annotate", kind, name, "example.com/edited=yes");
    await stage.patch("Datacenter", "one", { spec: { description: "edited" } });
    await untilRechecked(operator);
    await operator.kill();
    operator = await stage.operator({ flags });
    await operator.untilLeading();
    await untilRechecked(operator);
    await untilAll("SigningKeyUnknown");
    expect(await creations(platform)).toEqual([]);

    await setKeys({ current: current() });
    await untilAllReady();
    expect(await creations(platform)).toEqual([]);
  });

  it("are signed with a new key one after the other while both are there", async () => {
    await platform.steering.resetCalls();
    const signatures = async () => {
      const objects = await Promise.all(names.map(([kind, name]) => stage.read(kind, name)));
      const said = objects.flatMap((object) => [
        object && readStatus(object).signature,
        JSON.parse(object?.metadata.annotations?.[EXTERNAL_ID] ?? "{}").signature,
      ]);
      return [...new Set(said.map((each) => String(each).split(".")[0]))];
    };
    const [first = ""] = await signatures();
    const untilSigned = (isExpected: (by: string[]) => boolean) =>
      expect.poll(signatures, { timeout: 120_000 }).toSatisfy((by: string[]) => by.length === 1 && isExpected(by));
    await setKeys({ current: other, former: current() });
    await untilSigned((by) => !by.includes(first));
    await setKeys({ current: current(), former: null });
    await untilAll("SigningKeyUnknown");
    await setKeys({ former: other });
    await untilAllReady();
    await untilSigned((by) => by.includes(first));
    await setKeys({ former: null });
    await untilRechecked(operator);
    await untilAllReady();
    expect(await creations(platform)).toEqual([]);
  });

  it("have their key put back when its Secret is deleted", async () => {
    await stage.admin.request({ method: "DELETE", path: keyPath(SIGNING_KEY) });
    await expect.poll(async () => (await readKey().catch(() => undefined))?.data).toEqual(key.data);
    expect(operator.log()).toContain(`Secret ${stage.namespace}/${SIGNING_KEY} was deleted: putting it back`);
    await expect.poll(() => operator.metric("mooring_signing_key_missing")).toBe(0);
  });

  it("keep an operator from making a new key at its start, which says how to go on", async () => {
    await operator.stop();
    await stage.admin.request({ method: "DELETE", path: keyPath(SIGNING_KEY) });
    await platform.steering.resetCalls();
    operator = await stage.operator({ flags });
    await expect
      .poll(() => operator.log(), { timeout: 120_000 })
      .toContain("nothing is reconciled until it is restored");
    expect(operator.log()).toContain(`create secret generic ${SIGNING_KEY}`);
    expect(await operator.metric("mooring_signing_key_missing")).toBe(1);
    await expect(readKey()).rejects.toSatisfy(isNotFound);
    expect(operator.leads()).toBe(false);
    await restoreKey();
    await operator.untilLeading();
    await untilRechecked(operator);
    await untilAllReady();
    expect(await creations(platform)).toEqual([]);
  });

  it("are not needed for an operator to say that its namespace does not exist", async () => {
    const place = ["--namespace", "no-such-namespace", "--watch-namespace", "x"];
    const lost = await startOperator(stage.kubeconfig, [...place, ...onThisMachine, "--no-leader-election"]);
    expect(await lost.ended).not.toBe(0);
    expect(lost.log()).toContain("kubectl create namespace no-such-namespace");
  });
});

describe("two installations in one cluster", () => {
  const cleanup = new AsyncDisposableStack();
  let platform: OwnPlatform;
  let kubeconfig: string;
  let first: Stage;
  let second: Stage;
  const ANOTHER = "another installation of Mooring, in namespace";

  beforeAll(async () => {
    const control = await startCluster();
    cleanup.defer(control.stop);
    kubeconfig = control.kubeconfig;
    platform = cleanup.use(await startPlatform({ speed: 200 }));
    first = cleanup.use(await openStage(kubeconfig));
    second = cleanup.use(await openStage(kubeconfig));
  });
  afterAll(() => cleanup.disposeAsync());

  it("do not work on the same objects: the second one waits, and says how to take over", async () => {
    const one = await first.operator({ everywhere: true, flags });
    await first.account(platform);
    await first.apply(datacenter("mine"));
    await first.untilReady("Datacenter", "mine");
    const two = await second.operator({ everywhere: true, flags });
    const alone = await second.operator({ flags });
    for (const other of [two, alone]) {
      await expect.poll(() => other.log(), { timeout: 120_000 }).toContain(`${ANOTHER} ${first.namespace}`);
    }
    await one.kill();
    await platform.steering.resetCalls();
    await first.patch("Datacenter", "mine", { spec: { description: "edited" } });
    await second.account(platform);
    await second.apply(datacenter("theirs"));
    // It checks every few seconds, and the Lease is held by an installation that may come back.
    const reads = async () => (await two.metric("rest_client_requests_total")) ?? 0;
    const before = await reads();
    await expect.poll(reads, { timeout: 120_000 }).toBeGreaterThan(before + 5);
    expect((await platform.steering.calls()).total).toBe(0);
    expect([two.leads(), alone.leads()]).toEqual([false, false]);

    const command = ["-n", SHARED_NAMESPACE, "delete", "lease", INSTALLATION];
    expect(two.log()).toContain(`kubectl ${command.join(" ")}`);
    await alone.kill();
    expect((await kubectl(cluster().assets, kubeconfig)(command)).code).toBe(0);
    // Objects are signed with the key of the other installation, which has to be copied.
    await expect.poll(() => two.log(), { timeout: 120_000 }).toContain("nothing is reconciled until it is restored");
    const key = await first.admin.request<KubeObject>({
      method: "GET",
      path: pathOf(SECRETS, { namespace: first.namespace, name: SIGNING_KEY }),
    });
    await second.admin.request({
      method: "POST",
      path: pathOf(SECRETS, { namespace: second.namespace }),
      body: { ...key, metadata: { name: SIGNING_KEY } },
    });
    await two.untilLeading();
    await second.untilReady("Datacenter", "theirs");
    await first.untilReady("Datacenter", "mine");
    expect(await platform.named("datacenters", "mine")).toHaveLength(1);

    // When the first installation returns, it is the second one.
    const back = await first.operator({ everywhere: true, flags });
    await expect.poll(() => back.log(), { timeout: 120_000 }).toContain(`${ANOTHER} ${second.namespace}`);
    expect(back.leads()).toBe(false);
    await until(async () => (two.exitCode() === undefined ? undefined : "it ended"), {
      title: "the installation that works",
    });
  });
});
