import { RECREATE, ROTATE_AT } from "../../src/engine/state/names.ts";
import { readStatus } from "../../src/engine/status/status.ts";
import { kinds } from "../../src/kinds/index.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import type { Stage } from "../cluster/chaos-stage.ts";
import type { SoakObjects } from "./soak-objects.ts";
import { handOut, type Tenant } from "./tenants.ts";

/** Their keys are shown once: a Secret from a backup may hold one that was replaced since. */
const WITH_KEYS = ["MetricPipeline", "LogPipeline"];

/** What an administrator and a GitOps tool do after etcd was restored from a backup (docs/backup.md). */
export async function bringBack(tenants: readonly Tenant[], soakObjects: SoakObjects): Promise<void> {
  for (const { stage, login, prerequisites } of tenants) {
    await handOut(login);
    await stage.apply(...prerequisites);
    // The messages show ids then: the namespaces trust each other until all is back.
    if (login.account.kind === "ClusterAccount") {
      await stage.patch("ClusterAccount", login.account.metadata.name, { spec: { adoption: "Any" } });
    }
  }
  await soakObjects.applyAll();
  for (const tenant of tenants) {
    const wanted = new Set(soakObjects.wantedOf(tenant).map(({ kind, name }) => `${kind}/${name}`));
    for (const { kind, scope } of kinds) {
      for (const { metadata } of scope === "Cluster" ? [] : await tenant.stage.list(kind)) {
        if (!wanted.has(`${kind}/${metadata.name}`)) await tenant.stage.remove(kind, metadata.name);
        else if (WITH_KEYS.includes(kind))
          await annotate(tenant.stage, kind, metadata.name, ROTATE_AT, "after-restore");
      }
    }
  }
}

const annotate = (stage: Stage, kind: string, name: string, annotation: string, value: string) =>
  stage.patch(kind, name, { metadata: { annotations: { [annotation]: value } } });

const ADOPT = /patch \S+ \S+ --type merge -p '(\{.*?\}\})'/;
const ANEW = /mooring\.dev\/recreate to "([^"]+)"/;

/** Does what the messages of stalled objects advise: adopts what is there, and has created anew what was deleted. */
export async function followMessages({ stage }: Tenant): Promise<number> {
  let followed = 0;
  for (const { kind } of kinds) {
    for (const object of await stage.list(kind)) {
      const { reason = "", message = "" } = stalledOf(object) ?? {};
      const adopted = reason === "AlreadyExists" ? ADOPT.exec(message)?.[1] : undefined;
      const anew = reason === "DeletedExternally" ? ANEW.exec(message)?.[1] : undefined;
      if (adopted !== undefined) await stage.patch(kind, object.metadata.name, JSON.parse(adopted));
      if (anew !== undefined) await annotate(stage, kind, object.metadata.name, RECREATE, anew);
      if (adopted !== undefined || anew !== undefined) followed += 1;
    }
  }
  return followed;
}

const stalledOf = (object: KubeObject) =>
  readStatus(object).conditions?.find(({ type, status }) => type === "Stalled" && status === "True");
