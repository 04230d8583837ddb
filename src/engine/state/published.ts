import { GROUP } from "../../kinds/index.ts";
import { CONFIG_MAPS, type KubeObject, keyOf, SECRETS } from "../../kube/resource.ts";
import { createIndex } from "../../kube/watch/keyed-index.ts";
import { controllerOf, type DataResource } from "../../kube/write/owned-secret.ts";
import { MANAGED_BY, PUBLISHED } from "./names.ts";
import { type ObjectKey, objectKey } from "./object.ts";
import { isOf, isOutput, type Note, note } from "./publications/note.ts";
import { createSecretCache, type SecretCacheOptions } from "./publications/secret-cache.ts";
import type { Signatures } from "./signatures.ts";

export { changedEntries, type Note } from "./publications/note.ts";

/** Something that spec.output asked for, now or once. */
export interface Output {
  resource: DataResource;
  /** Without its data. */
  object: KubeObject;
  /** The `contentHash` of its data. */
  content: unknown;
}

/** The labels of a Secret or ConfigMap that Mooring has written for an object. */
export const labelsOf = ({ kind, metadata }: Pick<KubeObject, "kind" | "metadata">): Record<string, string> => ({
  [MANAGED_BY]: "mooring",
  [`${GROUP}/kind`]: labelValue(kind),
  [`${GROUP}/name`]: labelValue(metadata.name),
});

const labelValue = (text: string): string => text.slice(0, 63).replace(/[^A-Za-z0-9]+$/, "");

/**
 * The Secrets and ConfigMaps that Mooring has written, as last read: metadata and fingerprints, never a value. Every change
 * wakes the object that they belong to.
 */
export type Publications = ReturnType<typeof createPublications>;

export function createPublications(
  options: SecretCacheOptions & { seal: Pick<Signatures, "read">; wake: (key: ObjectKey) => void },
) {
  const { seal, wake } = options;
  /** By the uid of the object that they belong to. */
  const outputs = createIndex();
  const secrets = createSecretCache(SECRETS, options);
  const configMaps = createSecretCache(CONFIG_MAPS, options);
  const watched = [secrets, configMaps];
  for (const { resource, store } of watched) {
    store.subscribe(({ key, after, before }) => {
      const [namespace = ""] = key.split("/");
      const [owner, former] = [after, before].map((each) => each && controllerOf(each));
      outputs.set(`${resource.kind}/${key}`, after && owner && isOutput(after) ? [owner.uid] : []);
      if (owner) wake(objectKey(owner.kind, namespace, owner.name));
      if (former && former.uid !== owner?.uid) wake(objectKey(former.kind, namespace, former.name));
    });
  }
  let known = false;
  return {
    /**
     * The Secret with a key; no `secret` when there is none of this name, or it is not this object's. `known` once all were listed.
     * The watch does not show a Secret that has lost its label: only a read by name proves that it is missing. `note` is what its
     * annotation says, or else what this process has noted with the same content; `isNoted` when it is signed with the current key.
     */
    find(object: KubeObject, name: string) {
      const key = keyOf({ metadata: { ...object.metadata, name } });
      const readAt = secrets.readAt(key);
      const found = secrets.get(key);
      if (!found || !isOf(object, found)) return { known, note: undefined, secret: undefined, readAt };
      const { entries = {}, noted } = secrets.factsOf(found) ?? {};
      const said = seal.read("Secret", found, PUBLISHED);
      const read = said?.verdict === "ours" ? note.safeParse(said.words).data : undefined;
      const isNoted = read !== undefined && (said?.current ?? false);
      return {
        // A note that is signed with an unknown key says nothing.
        known: known && said?.verdict !== "foreign",
        note: read ?? noted,
        secret: { isNoted, labels: found.metadata.labels ?? {}, entries },
        readAt,
      };
    },
    /** Reads the Secret by its name, with its data. */
    async read(object: KubeObject, name: string): Promise<KubeObject | undefined> {
      const found = await secrets.read(object.metadata.namespace, name);
      return isOf(object, found) ? found : undefined;
    },
    /** All that was written for this object by spec.output, under any name, and is not being deleted. */
    outputs({ metadata }: KubeObject) {
      const found: Output[] = outputs.get(metadata.uid ?? "").flatMap((id) => {
        const { resource, store, factsOf } = id.startsWith("Secret/") ? secrets : configMaps;
        const object = store.get(id.slice(id.indexOf("/") + 1));
        return object && !object.metadata.deletionTimestamp
          ? [{ resource, object, content: factsOf(object)?.content }]
          : [];
      });
      return { known, found };
    },
    /** Takes in an own write, after which no older version counts. `noted` is kept in case a webhook removes the annotation. */
    put: (written: KubeObject, noted?: Note): void =>
      (written.kind === CONFIG_MAPS.kind ? configMaps : secrets).put(written, noted),
    async sync(): Promise<void> {
      await Promise.all(watched.map((each) => each.sync()));
      known = true;
    },
    async close(): Promise<void> {
      await Promise.all(watched.map((each) => each.close()));
    },
  };
}
