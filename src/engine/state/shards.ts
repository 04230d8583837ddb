import type { Namespaces } from "../../kube/watch/namespaces.ts";
import { SHARD } from "./names.ts";
import { namespaceOf, type ObjectKey } from "./object.ts";

/** Which objects this process works on. It watches all of them: references, claims and intents reach across shards. */
export interface Shards {
  /** By the label of the namespace. Without a label, or without a namespace, it is the shard without a name. */
  serves(key: ObjectKey): boolean;
  /** Whether there may be other shards. Once true, it stays so. */
  divided(): boolean;
}

/** Whether a namespace with these labels belongs to this shard. One that is not known yet counts as unlabelled. */
export const isOfShard = (shard: string | undefined, labels: Readonly<Record<string, string>> | undefined): boolean =>
  (labels?.[SHARD] ?? "") === (shard ?? "");

export function createShards(shard: string | undefined, namespaces: Pick<Namespaces, "labelsOf" | "values">): Shards {
  let divided = shard !== undefined;
  return {
    serves(key) {
      const { length } = key.split("/");
      return length < 3 ? shard === undefined : isOfShard(shard, namespaces.labelsOf(namespaceOf(key)));
    },
    divided() {
      divided ||= [...namespaces.values()].some(({ metadata }) => metadata.labels?.[SHARD] !== undefined);
      return divided;
    },
  };
}

/** One process that works on everything. */
export const undivided: Shards = { serves: () => true, divided: () => false };
