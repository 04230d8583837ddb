import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCluster } from "../../src/cli/control-plane/start.ts";
import { audit } from "../cluster/audit.ts";
import { type Platform, startPlatform } from "../cluster/chaos/platform.ts";
import { openStage, type Stage } from "../cluster/chaos/stage.ts";
import { until } from "../cluster/chaos/wait.ts";
import { kubectl, type TestCluster } from "../cluster/harness.ts";
import { datacenter } from "../cluster/objects.ts";
import { manifest } from "../subjects/surroundings.ts";
import { openTenant } from "./tenant.ts";

// One operator for all namespaces, so it needs a control plane of its own. The team has the rights that ship, in a
// namespace that is set up as docs/guides/tenants.md says.
const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

let platform: Platform;
let run: TestCluster["kubectl"];
let team: Stage;

/** kubectl of the team. Returns the message if it is refused. */
async function asTeam(...args: string[]): Promise<string> {
  const { namespace } = team;
  const { code, stderr } = await run(["-n", namespace, `--as=tenant-of-${namespace}`, ...args]);
  return code === 0 ? "" : stderr;
}

/** The policy of the guide. */
async function guided(): Promise<string> {
  const guide = await readFile(new URL("../../docs/guides/tenants.md", import.meta.url), "utf8");
  const [, policy] =
    /<<END\n(apiVersion: admissionregistration\S+\nkind: ValidatingAdmissionPolicy\n.*?)\nEND\n/s.exec(guide) ?? [];
  if (!policy) throw new Error("the guide has no policy");
  return policy;
}

beforeAll(async () => {
  const control = await startCluster({ audit: audit() });
  cleanup.defer(control.stop);
  run = kubectl(control.assets, control.kubeconfig);
  platform = cleanup.use(await startPlatform({ speed: 200 }));
  const home = cleanup.use(await openStage(control.kubeconfig));
  team = cleanup.use(await openTenant(control.kubeconfig));
  const labels = { "example.com/contract": "teams" };
  await team.admin.request({
    method: "PATCH",
    path: `/api/v1/namespaces/${team.namespace}`,
    contentType: "application/merge-patch+json",
    body: { metadata: { labels } },
  });
  await home.apply(
    { apiVersion: "v1", kind: "Secret", metadata: { name: "teams" }, stringData: { token: platform.token } },
    manifest("ClusterAccount", "teams", {
      credentialsSecretRef: { name: "teams" },
      namespaces: { selector: { matchLabels: labels } },
      default: true,
    }),
  );
  const applied = await run(["apply", "-f", "-"], { input: await guided() });
  expect([applied.code, applied.stderr]).toEqual([0, ""]);
  await home.operator({ everywhere: true, flags: ["--resync", "2s", "--endpoint", `api=${platform.url}`] });
  await home.untilReady("ClusterAccount", "teams");
  await team.apply(datacenter("probe"));
  await team.untilReady("Datacenter", "probe");
  const retain = '{"spec":{"deletionPolicy":"Retain"}}';
  const attempt = () => asTeam("patch", "datacenter/probe", "--type=merge", "--dry-run=server", "-p", retain);
  await until(async () => ((await attempt()).includes("denied") ? undefined : "not refused yet"), {
    title: "the policy",
  });
});

const remove = ["delete", "--wait=false"];
const patch = (change: object) => ["patch", "--type=merge", "-p", JSON.stringify(change)];
const released = patch({ metadata: { finalizers: null } });
const paused = (value: string | null) => patch({ metadata: { annotations: { "mooring.dev/paused": value } } });

describe("a team whose quota counts", () => {
  it.each([
    ["a change to Observe", "observed", [patch({ spec: { managementPolicy: "Observe" } })]],
    ["a finalizer that it removes", "dropped", [remove, released]],
    ["the finalizer of a paused object", "paused", [paused("true"), remove, released, paused(null)]],
  ])("leaves nothing on the platform by %s", async (_, name, steps) => {
    await team.apply(datacenter(name));
    await team.untilReady("Datacenter", name);
    // The team deletes the object in the end, also if some of this is refused.
    for (const [verb = "", ...args] of [...steps, remove]) await asTeam(verb, `datacenter/${name}`, ...args);
    await team.untilGone("Datacenter", name);
    expect(await platform.named("datacenters", name)).toEqual([]);
  });
});
