import { type KubeObject, SECRETS } from "../../../kube/resource.ts";
import type { LimitOf } from "../../../kube/watch/age-limits.ts";
import { reducedMetadata } from "../../../kube/watch/reduced.ts";
import type { Watching } from "../../../kube/watch/watch.ts";
import type { DataResource } from "../../../kube/write/owned-secret.ts";
import { createWrittenCache } from "../../../kube/write/written-cache.ts";
import { MANAGED_BY, OWN } from "../names.ts";
import { contentHash, entriesOf, ownerOf } from "./fingerprints.ts";
import { changedEntries, isOutput, type Note } from "./note.ts";

/** The facts that are kept instead of the data of a Secret or ConfigMap. */
interface Facts {
  content: string | undefined;
  entries: Record<string, string>;
}

export interface SecretCacheOptions extends Watching {
  /** How many of a kind are kept in each namespace; others are read by their names. */
  limit?: LimitOf;
  /** Called once for each kind and namespace that has more. */
  crowded?: (kind: string, namespace: string) => void;
}

/** The Secrets or the ConfigMaps that Mooring has written, without their data. */
export const createSecretCache = (resource: DataResource, { limit, crowded, ...options }: SecretCacheOptions) =>
  createWrittenCache<Facts, Note>({
    ...options,
    resource,
    labelSelector: `${MANAGED_BY}=mooring`,
    isOwn: (object) => ownerOf(object) !== undefined,
    reduce(object: KubeObject) {
      const { apiVersion, kind } = object;
      const owner = ownerOf(object);
      const metadata = { ...reducedMetadata(object.metadata, OWN), ...(owner && { ownerReferences: [owner] }) };
      const hasKey = resource === SECRETS && !isOutput(object);
      const content = isOutput(object) ? contentHash(object) : undefined;
      return {
        reduced: { apiVersion, kind, metadata },
        facts: { content, entries: hasKey ? entriesOf(object) : {} },
      };
    },
    isAsNoted: (note, { entries }) => changedEntries(note, entries).length === 0,
    most: limit?.(resource.kind),
    crowded: (namespace) => crowded?.(resource.kind, namespace),
  });
