import { z } from "zod";
import type { Clock } from "../../clock.ts";
import { hashBody } from "../../hash.ts";
import type { KubeClient } from "../../kube/client/transport.ts";
import { type KubeObject, keyOf, metadataOnly } from "../../kube/resource.ts";
import { createIndex } from "../../kube/watch/keyed-index.ts";
import { createStore } from "../../kube/watch/store.ts";
import { type Watcher, watch } from "../../kube/watch/watch.ts";
import { CONFIG_MAPS, controllerOf, type DataResource, SECRETS } from "../../kube/write/owned-secret.ts";
import { certificateFacts, keyFacts } from "../schema/status-schema.ts";
import { MANAGED_BY, OUTPUT, PUBLISHED } from "./names.ts";
import { type ObjectKey, objectKey } from "./object.ts";
import type { Seal } from "./seal.ts";

const note = z.object({
  /** The resource whose key it holds. */
  resource: z.string(),
  /** The creation or renewal that the key answers. */
  nonce: z.string(),
  /** Hash of everything in it but the key. */
  content: z.string(),
  key: z.union([certificateFacts, keyFacts]),
  /** The value of the annotation rotate-at that the key answers, or that was there with the first one. */
  rotated: z.string(),
});
/** What a published Secret says about itself. */
export type Note = z.output<typeof note>;

/** Something that spec.output asked for, now or once. */
export interface Output {
  resource: DataResource;
  /** Without what is in it. */
  object: KubeObject;
  /** What is in it, as `contentHash` has it. */
  content: unknown;
}

/** Equal for a Secret or a ConfigMap that holds the same. */
export const contentHash = ({ data, binaryData }: Readonly<Record<string, unknown>>): string =>
  hashBody([data ?? {}, binaryData ?? {}]);

/**
 * The Secrets and ConfigMaps that Mooring has written, as last seen: what they say about themselves, never what is in them.
 * The object that one belongs to hears of every change, so that one that somebody deletes is missed at once.
 */
export interface Publications {
  /**
   * The Secret with a key. Undefined when there is none of this name, or not this object's; not `known` until they were
   * listed once; `current` when it is signed with the key that signs now.
   */
  find(object: KubeObject, name: string): { known: boolean; note: Note | undefined; current: boolean };
  /** What was written for this object by spec.output, under whatever names; without what is on its way out. */
  outputs(object: KubeObject): { known: boolean; found: Output[] };
  /** Own writes are believed at once, and no older state after them. */
  put(written: KubeObject): void;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export function createPublications(options: {
  client: KubeClient;
  clock: Clock;
  seal: Pick<Seal, "read">;
  namespace?: string;
  wake: (key: ObjectKey) => void;
  onError: (error: unknown) => void;
}): Publications {
  const { client, clock, seal, namespace, wake, onError } = options;
  /** By the uid of the object that they belong to. */
  const outputs = createIndex();
  const isOutput = ({ metadata }: KubeObject) => metadata.labels?.[OUTPUT] === "true";
  const open = (resource: DataResource) => {
    const keep = (object: KubeObject) => ({
      ...metadataOnly(object),
      ...(isOutput(object) && { content: contentHash(object) }),
    });
    const store = createStore<KubeObject>({ onListenerError: onError, keep });
    store.subscribe(({ key, after, before }) => {
      const [namespace = ""] = key.split("/");
      const [owner, former] = [after, before].map((each) => each && controllerOf(each));
      outputs.set(`${resource.kind}/${key}`, after && owner && isOutput(after) ? [owner.uid] : []);
      if (owner) wake(objectKey(owner.kind, namespace, owner.name));
      if (former && former.uid !== owner?.uid) wake(objectKey(former.kind, namespace, former.name));
    });
    return { resource, store };
  };
  const [secrets, configMaps] = [open(SECRETS), open(CONFIG_MAPS)];
  let known = false;
  const watchers: Watcher[] = [];
  return {
    find(object, name) {
      const secret = secrets.store.get(keyOf({ metadata: { ...object.metadata, name } }));
      const isTheirs = secret && controllerOf(secret)?.uid === object.metadata.uid;
      const said = isTheirs ? seal.read("Secret", secret, PUBLISHED) : undefined;
      const words = said?.verdict === "ours" ? said.words : undefined;
      // A note that somebody has spoilt counts as absent: the key is then made anew. One of an unknown key says nothing.
      const isKnown = known && said?.verdict !== "foreign";
      return { known: isKnown, note: note.safeParse(words).data, current: said?.current ?? false };
    },
    outputs({ metadata }) {
      const found = outputs.get(metadata.uid ?? "").flatMap((id) => {
        const { resource, store } = id.startsWith("Secret/") ? secrets : configMaps;
        const object = store.get(id.slice(id.indexOf("/") + 1));
        return object && !object.metadata.deletionTimestamp ? [{ resource, object, content: object.content }] : [];
      });
      return { known, found };
    },
    put: (written) => (written.kind === CONFIG_MAPS.kind ? configMaps : secrets).store.put(written),
    async sync() {
      const labelSelector = `${MANAGED_BY}=mooring`;
      const within = namespace && { namespace };
      for (const { resource, store } of [secrets, configMaps])
        watchers.push(watch({ client, resource, labelSelector, store, clock, onError, ...within }));
      await Promise.all(watchers.map(({ synced }) => synced));
      known = true;
    },
    async close() {
      await Promise.all(watchers.map((watcher) => watcher.stop()));
    },
  };
}
