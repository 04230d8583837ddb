import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCluster } from "../../src/cli/control-plane/start.ts";
import { EXTERNAL_ID, PAUSED } from "../../src/engine/state/names.ts";
import { readStatus } from "../../src/engine/status/status.ts";
import { type KubeObject, pathOf, SECRETS } from "../../src/kube/resource.ts";
import { SIGNING_KEY } from "../../src/operator/signing-key.ts";
import { audit } from "../cluster/audit.ts";
import { type Platform, startPlatform } from "../cluster/chaos/platform.ts";
import { openStage, type Stage } from "../cluster/chaos/stage.ts";
import { until } from "../cluster/chaos/wait.ts";
import { datacenter } from "../cluster/objects.ts";
import { accountSpec, manifest } from "../subjects/surroundings.ts";
import { openTenant } from "./tenant.ts";

// The signing key is lost, and an administrator allows unsigned claims. A and B have Accounts of one contract and the
// shipped roles. A is the attacker.
const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

let platform: Platform;
let home: Stage;
let a: Stage;
let b: Stage;
const quick = ["--annotate-after", "1s", "--recheck", "2s"];

async function open(stage: Stage): Promise<void> {
  const spec = { ...accountSpec({ api: platform.url, nth: 0 }), credentialsSecretRef: { name: "main" } };
  const metadata = { name: "main" };
  await stage.apply(
    { apiVersion: "v1", kind: "Secret", metadata, stringData: { token: platform.token } },
    manifest("Account", "main", spec),
  );
  await stage.untilReady("Account", "main");
}
const idOf = (object: KubeObject | undefined): string => (object && readStatus(object).id) ?? "";
const path = () => pathOf(SECRETS, { namespace: home.namespace, name: SIGNING_KEY });
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
const letCount = (minutes: number) =>
  home.admin.request({
    method: "PATCH",
    path: path(),
    contentType: "application/merge-patch+json",
    body: { metadata: { annotations: { "mooring.dev/unsigned-until": inMinutes(minutes) } } },
  });
/** A Datacenter of A without a resource. */
const idle = (name: string) => ({ ...datacenter(name), metadata: { name, annotations: { [PAUSED]: "true" } } });
const claiming = (id: string, account: string) =>
  JSON.stringify({ id, parents: {}, account, endpoint: platform.url, adoptedAt: "2099-01-01T00:00:00Z" });

beforeAll(async () => {
  const control = await startCluster({ audit: audit() });
  cleanup.defer(control.stop);
  platform = cleanup.use(await startPlatform({ speed: 200 }));
  home = cleanup.use(await openStage(control.kubeconfig));
  a = cleanup.use(await openTenant(control.kubeconfig));
  b = cleanup.use(await openTenant(control.kubeconfig));
  const first = await home.operator({ everywhere: true, flags: quick });
  await Promise.all([open(a), open(b)]);
  await a.apply(datacenter("honest"), idle("thief"), idle("burglar"));
  await b.apply(datacenter("prize"));
  for (const [stage, name] of [
    [a, "honest"],
    [b, "prize"],
  ] as const) {
    await stage.untilReady("Datacenter", name);
    const annotations = async () => (await stage.read("Datacenter", name))?.metadata.annotations;
    await until(async () => (EXTERNAL_ID in ((await annotations()) ?? {}) ? undefined : "its id is not kept"), {
      title: name,
    });
  }
  await first.kill();
  await home.admin.request({ method: "DELETE", path: path() });
  const metadata = { name: SIGNING_KEY, namespace: home.namespace };
  const body = { apiVersion: "v1", kind: "Secret", metadata, stringData: { current: "a key that is new" } };
  await home.admin.request({ method: "POST", path: pathOf(SECRETS, { namespace: home.namespace }), body });
});

describe("words that an administrator lets count without a known key", () => {
  it("give no tenant what another one names, by an annotation through the own Account or the other's", async () => {
    const id = idOf(await b.read("Datacenter", "prize"));
    const honest = idOf(await a.read("Datacenter", "honest"));
    for (const [name, account] of [
      ["thief", a.namespace],
      ["burglar", b.namespace],
    ] as const) {
      const annotations = { [PAUSED]: null, [EXTERNAL_ID]: claiming(id, `${account}/main`) };
      await a.patch("Datacenter", name, { metadata: { annotations } });
    }
    await letCount(10);
    await home.operator({ everywhere: true, flags: quick });
    expect(idOf(await a.untilReady("Datacenter", "honest"))).toBe(honest);
    for (const name of ["thief", "burglar"]) {
      expect(idOf(await a.untilReady("Datacenter", name))).not.toBe(id);
      await a.remove("Datacenter", name);
      await a.untilGone("Datacenter", name);
    }
    expect((await platform.steering.resources("datacenters")).map((each) => each.id).sort()).toEqual(
      [id, honest].sort(),
    );
    // No other object names it any more.
    await letCount(11);
    expect(idOf(await b.untilReady("Datacenter", "prize"))).toBe(id);
    expect(await platform.named("datacenters", "prize")).toHaveLength(1);
  });
});
