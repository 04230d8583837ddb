import { ALLOW_DATA_LOSS, RECREATE, ROTATE_AT } from "../../src/engine/state/names.ts";
import { policiesOf } from "../../src/engine/state/policies.ts";
import { readStatus } from "../../src/engine/status/status.ts";
import { kinds } from "../../src/kinds/index.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import type { SoakObjects } from "./soak-objects.ts";
import { handOut, type Tenant } from "./tenants.ts";

/** Their keys are shown once: a Secret from a backup may hold one that was replaced since. */
const WITH_KEYS = ["MetricPipeline", "LogPipeline"];
const AFTER_RESTORE = { [ROTATE_AT]: "after-restore" };

/** An object in any namespace: names have the number of their namespace. */
const nameOf = ({ kind, name }: { kind: string; name: string }): string => `${kind}/${name}`;

/** The ids of resources by object, as administrators know them: from the log of the operator, or from a list of theirs. */
export type KnownIds = ReadonlyMap<string, string>;

async function objectsOf(tenants: readonly Tenant[]): Promise<{ tenant: Tenant; kind: string; object: KubeObject }[]> {
  const all = tenants.map(async (tenant) => {
    const namespaced = kinds.filter(({ scope }) => scope !== "Cluster");
    const lists = namespaced.map(async ({ kind }) =>
      (await tenant.stage.list(kind)).map((object) => ({ tenant, kind, object })),
    );
    return (await Promise.all(lists)).flat();
  });
  return (await Promise.all(all)).flat();
}

export async function knownIds(tenants: readonly Tenant[]): Promise<KnownIds> {
  const objects = await objectsOf(tenants);
  return new Map(
    objects.flatMap(({ kind, object }): [string, string][] => {
      const { id } = readStatus(object);
      return id === undefined ? [] : [[nameOf({ kind, name: object.metadata.name }), id]];
    }),
  );
}

/** The steps of an administrator and a GitOps tool after etcd was restored from a backup (docs/backup.md). */
export async function bringBack(tenants: readonly Tenant[], soakObjects: SoakObjects, ids: KnownIds): Promise<void> {
  for (const { stage, login, prerequisites } of tenants) {
    await handOut(login);
    await stage.apply(...prerequisites);
    // The messages show ids then: the namespaces trust each other until all is back.
    if (login.account.kind === "ClusterAccount") {
      await stage.patch("ClusterAccount", login.account.metadata.name, { spec: { adoption: "Any" } });
    }
  }
  await createMissing(soakObjects, await objectsOf(tenants), ids);
  await soakObjects.applyAll();
  for (const { tenant, kind, object } of await objectsOf(tenants)) {
    const { name } = object.metadata;
    const wanted = soakObjects.wantedOf(tenant).some((each) => each.kind === kind && each.name === name);
    if (!wanted) await tenant.stage.remove(kind, name);
    else if (WITH_KEYS.includes(kind)) await tenant.stage.patch(kind, name, annotated(AFTER_RESTORE));
  }
}

function createMissing(
  soakObjects: SoakObjects,
  objects: readonly { kind: string; object: KubeObject }[],
  ids: KnownIds,
): Promise<void> {
  const there = new Set(objects.map(({ kind, object }) => nameOf({ kind, name: object.metadata.name })));
  return soakObjects.createMissing(
    (soaked) => there.has(nameOf(soaked)),
    (soaked) => {
      const externalId = ids.get(nameOf(soaked));
      const annotations = WITH_KEYS.includes(soaked.kind) ? AFTER_RESTORE : {};
      return { spec: externalId === undefined ? {} : { externalId }, annotations };
    },
  );
}

const annotated = (annotations: Record<string, string>) => ({ metadata: { annotations } });

const ADOPT = /patch \S+ \S+ --type merge -p '\{"spec":\{"externalId":"([^"]+)"\}\}'/;
const LOSS = /mooring\.dev\/allow-data-loss to "([^"]+)" to allow it once/;
const REPLACE = "set replacePolicy: WhenNeeded";
const ANEW = /mooring\.dev\/recreate to "([^"]+)"/;

/**
 * Does what the messages of stalled objects advise: adopts what is there, and has created anew what was deleted. Objects whose
 * deletion went on after the restore are created again. Resolves with the number of changed objects.
 */
export async function followMessages(
  tenants: readonly Tenant[],
  soakObjects: SoakObjects,
  ids: KnownIds,
): Promise<number> {
  const objects = await objectsOf(tenants);
  await createMissing(soakObjects, objects, ids);
  let followed = 0;
  for (const { tenant, kind, object } of objects) {
    const change = adviceOn(object);
    if (change === undefined) continue;
    await tenant.stage.patch(kind, object.metadata.name, change);
    followed += 1;
  }
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
      const key = WITH_KEYS.includes(object.kind) ? annotated(AFTER_RESTORE) : {};
      return id === undefined || id === externalId ? undefined : { ...key, spec: { externalId: id } };
    }
    // Two objects have adopted the same resource: the next message names what is left.
    case "NotAdoptable":
      return stalled.message.includes("remove externalId") ? { spec: { externalId: null } } : undefined;
    case "DeletedExternally": {
      const id = ANEW.exec(stalled.message)?.[1];
      return id === undefined || id === annotations[RECREATE] ? undefined : annotated({ [RECREATE]: id });
    }
    // The object of the backup has other values than the one that was created after it.
    case "ImmutableFieldChanged":
      return !stalled.message.includes(REPLACE) || policiesOf(object).replacePolicy === "WhenNeeded"
        ? undefined
        : { spec: { replacePolicy: "WhenNeeded" } };
    case "DataLossNotAllowed": {
      const allowed = LOSS.exec(stalled.message)?.[1];
      return allowed === undefined || allowed === annotations[ALLOW_DATA_LOSS]
        ? undefined
        : annotated({ [ALLOW_DATA_LOSS]: allowed });
    }
    default:
      return undefined;
  }
}
