import { RECREATE, ROTATE_AT } from "../../src/engine/state/names.ts";
import { policiesOf } from "../../src/engine/state/policies.ts";
import { readStatus } from "../../src/engine/status/status.ts";
import { kinds } from "../../src/kinds/index.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
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
          await tenant.stage.patch(kind, metadata.name, annotated(ROTATE_AT, "after-restore"));
      }
    }
  }
}

const annotated = (annotation: string, value: string) => ({ metadata: { annotations: { [annotation]: value } } });

const ADOPT = /patch \S+ \S+ --type merge -p '\{"spec":\{"externalId":"([^"]+)"\}\}'/;
const ANEW = /mooring\.dev\/recreate to "([^"]+)"/;

/**
 * Does what the messages of stalled objects advise: adopts what is there, and has created anew what was deleted. Objects whose
 * deletion went on after the restore are created again, as a GitOps tool does. Resolves with the number of changed objects.
 */
export async function followMessages(tenants: readonly Tenant[], soakObjects: SoakObjects): Promise<number> {
  let followed = 0;
  const there = new Set<string>();
  for (const { stage } of tenants) {
    for (const { kind } of kinds) {
      for (const object of await stage.list(kind)) {
        there.add(`${kind}/${object.metadata.name}`);
        const change = adviceOn(object);
        if (change === undefined) continue;
        await stage.patch(kind, object.metadata.name, change);
        followed += 1;
      }
    }
  }
  // The names are unique in all namespaces.
  await soakObjects.applyAll(({ kind, name }) => !there.has(`${kind}/${name}`));
  return followed;
}

/** The change of a stalled object that its message asks for; undefined if there is none, or it was made. */
function adviceOn(object: KubeObject): object | undefined {
  const { deletionTimestamp, annotations = {} } = object.metadata;
  const stalled = readStatus(object).conditions?.find(({ type, status }) => type === "Stalled" && status === "True");
  if (!stalled || deletionTimestamp !== undefined) return undefined;
  const { externalId } = policiesOf(object);
  switch (stalled.reason) {
    case "AlreadyExists": {
      const id = ADOPT.exec(stalled.message)?.[1];
      return id === undefined || id === externalId ? undefined : { spec: { externalId: id } };
    }
    // Two objects have adopted the same resource: the next message names what is left.
    case "NotAdoptable":
      return stalled.message.includes("remove externalId") ? { spec: { externalId: null } } : undefined;
    case "DeletedExternally": {
      const id = ANEW.exec(stalled.message)?.[1];
      return id === undefined || id === annotations[RECREATE] ? undefined : annotated(RECREATE, id);
    }
    default:
      return undefined;
  }
}
