import { startCluster } from "../../src/cli/control-plane/start.ts";
import { readStatus } from "../../src/engine/status/status.ts";
import { audit } from "../cluster/audit.ts";
import type { OperatorProcess } from "../cluster/chaos/operator.ts";
import { type Platform, startPlatform } from "../cluster/chaos/platform.ts";
import { openStage, type Stage } from "../cluster/chaos/stage.ts";
import { manifest } from "../subjects/surroundings.ts";
import { openTenant } from "./tenant.ts";

export const byName = (name: string) => ({ accountRef: { kind: "ClusterAccount", name } });
export const clusterAccount = (name: string, spec: object) =>
  manifest("ClusterAccount", name, { credentialsSecretRef: { name: "shared" }, ...spec });
export const labelled = { namespaces: { selector: { matchLabels: { tier: "gold" } } } };

/** An administrator sets or removes labels of a namespace. */
export const label = ({ namespace, admin }: Stage, labels: Record<string, string | null>) =>
  admin.request({
    method: "PATCH",
    path: `/api/v1/namespaces/${namespace}`,
    contentType: "application/merge-patch+json",
    body: { metadata: { labels } },
  });
export async function statusOf(stage: Stage, kind: string, name: string) {
  const object = await stage.read(kind, name);
  return object && readStatus(object);
}
export const messageOf = async (stage: Stage, kind: string, name: string) =>
  (await statusOf(stage, kind, name))?.conditions?.find(({ type }) => type === "Ready")?.message ?? "";

/** A platform, the operator's own namespace, and two tenants. */
export interface SharedContract {
  readonly kubeconfig: string;
  readonly platform: Platform;
  readonly home: Stage;
  /** Admitted to the ClusterAccount `shared`. */
  readonly gold: Stage;
  /** Not admitted. Has every right on objects of Mooring. */
  readonly other: Stage;
}

/** One operator for all namespaces, so it needs a control plane without objects of other tests. */
export async function openShared(cleanup: AsyncDisposableStack): Promise<SharedContract> {
  const control = await startCluster({ audit: audit() });
  cleanup.defer(control.stop);
  const { kubeconfig } = control;
  const platform = cleanup.use(await startPlatform({ speed: 200 }));
  const home = cleanup.use(await openStage(kubeconfig));
  const gold = cleanup.use(await openTenant(kubeconfig));
  const other = cleanup.use(await openTenant(kubeconfig, { forges: true }));
  await label(gold, { tier: "gold" });
  await home.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "shared" },
    stringData: { token: platform.token },
  });
  await home.apply(clusterAccount("shared", { region: "de/txl", default: true, ...labelled }));
  return { kubeconfig, platform, home, gold, other };
}

/** An operator for all namespaces, with the endpoints of the platform. */
export function startOperator({ home, platform }: SharedContract): Promise<OperatorProcess> {
  const regional = ["monitoring", "logging", "streaming"].map((name) => `${name}=${platform.url}/${name}/{region}`);
  const endpoints = [`api=${platform.url}`, ...regional].flatMap((each) => ["--endpoint", each]);
  return home.operator({ everywhere: true, flags: ["--resync", "2s", "--annotate-after", "1s", ...endpoints] });
}
