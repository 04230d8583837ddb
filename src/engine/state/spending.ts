import { inferenceAccess } from "../../kinds/inference/inference-access.ts";
import { entryOf, objectOfEntry, readSpent, SPENDING_LABEL, type Spent } from "../../kinds/inference/spending.ts";
import { CONFIG_MAPS, type KubeObject } from "../../kube/resource.ts";
import { reducedMetadata } from "../../kube/watch/reduced.ts";
import { createWatchedStore, type Watching } from "../../kube/watch/watch.ts";
import { OWN } from "./names.ts";
import { type ObjectKey, targetOf } from "./object.ts";

export type Spending = ReturnType<typeof createSpending>;

interface Options extends Omit<Watching, "namespace"> {
  /** Undefined for an operator of one namespace: the gateway serves ClusterAccounts only, which that one does not know. */
  namespace: string | undefined;
  /** Called when an object has spent more. */
  changed: (key: ObjectKey) => void;
}

/** The spending of objects, from the gateway's ConfigMaps in the operator's own namespace, where no tenant writes. */
export function createSpending({ client, clock, namespace, changed, onError }: Options) {
  const spent = new Map<string, { usage: Spent }>();
  const reduce = ({ apiVersion, kind, metadata, data }: KubeObject): KubeObject => ({
    apiVersion,
    kind,
    metadata: reducedMetadata(metadata, OWN),
    data,
  });
  const labelSelector = Object.entries(SPENDING_LABEL).flat().join("=");
  const within = { labelSelector, ...(namespace !== undefined && { namespace }) };
  const { store, ...watched } = createWatchedStore({
    client,
    clock,
    resource: CONFIG_MAPS,
    onError,
    reduce,
    ...within,
  });
  store.subscribe(({ before, after }) => {
    const [had, has] = [before, after].map((each): Record<string, unknown> => ({ ...Object(each?.data) }));
    for (const entry of Object.keys({ ...had, ...has })) {
      if (had?.[entry] === has?.[entry]) continue;
      const usage = readSpent(has?.[entry]);
      if (usage) spent.set(entry, { usage });
      else spent.delete(entry);
      const key = objectOfEntry(entry);
      if (key !== undefined) changed(key);
    }
  });
  return {
    of(key: ObjectKey): { usage: Spent } | undefined {
      const { kind, namespace, name } = targetOf(key);
      return kind === inferenceAccess.kind ? spent.get(entryOf(namespace, name)) : undefined;
    },
    sync: async () => (namespace === undefined ? undefined : watched.sync()),
    close: watched.close,
  };
}
