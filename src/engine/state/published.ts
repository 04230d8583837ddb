import { z } from "zod";
import { GROUP } from "../../kinds/index.ts";
import type { KubeClient } from "../../kube/client/transport.ts";
import { type KubeObject, keyOf } from "../../kube/resource.ts";
import { fetchObject } from "../../kube/watch/followed.ts";
import { createIndex } from "../../kube/watch/keyed-index.ts";
import { reducedMetadata } from "../../kube/watch/reduced.ts";
import { createStore } from "../../kube/watch/store.ts";
import { compareVersions } from "../../kube/watch/version.ts";
import { type Watcher, watch } from "../../kube/watch/watch.ts";
import { CONFIG_MAPS, controllerOf, type DataResource, SECRETS } from "../../kube/write/owned-secret.ts";
import type { Clock } from "../../runtime/clock.ts";
import { certificateFacts, keyFacts } from "../status/schema.ts";
import { contentHash, entriesOf, ownerOf } from "./fingerprints.ts";
import type { LimitOf } from "./indexes/object-limits.ts";
import { MANAGED_BY, OUTPUT, OWN, PUBLISHED } from "./names.ts";
import { createNamespaceQuota } from "./namespace-quota.ts";
import { type ObjectKey, objectKey } from "./object.ts";
import type { Signatures } from "./signatures.ts";

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
  /** The fingerprint of each entry as it was written. One that was made of status has none. */
  entries: z.record(z.string(), z.string()).optional(),
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

/** Entries of a Secret that are not as they were written. An entry that was added is none of them. */
export const changedEntries = ({ entries = {} }: Note, found: Readonly<Record<string, string>>): string[] =>
  Object.keys(entries).filter((name) => entries[name] !== found[name]);

/** By these labels what Mooring has written for an object is found. */
export const labelsOf = ({ kind, metadata }: Pick<KubeObject, "kind" | "metadata">): Record<string, string> => ({
  [MANAGED_BY]: "mooring",
  [`${GROUP}/kind`]: labelValue(kind),
  [`${GROUP}/name`]: labelValue(metadata.name),
});

/** As much of a name as a label may hold. */
const labelValue = (text: string): string => text.slice(0, 63).replace(/[^A-Za-z0-9]+$/, "");

/** An object's own Secret: what it says about itself, and the fingerprints of what is in it. */
export interface CachedSecret {
  /** The note stands in its annotation, signed with the key that signs now. */
  isNoted: boolean;
  labels: Readonly<Record<string, string>>;
  entries: Readonly<Record<string, string>>;
}

/**
 * The Secrets and ConfigMaps that Mooring has written, as last read: what they say about themselves and fingerprints of what is
 * in them, never a value. The object that one belongs to hears of every change, so that one that somebody deletes is missed
 * at once.
 */
export interface Publications {
  /**
   * The Secret with a key. No `secret` when there is none of this name, or not this object's; not `known` until they were
   * listed once. The watch does not see one that has lost its label: only a read by name proves that it is missing. No `note`
   * when it cannot be read, and this process has not written what is in the Secret now.
   */
  find(
    object: KubeObject,
    name: string,
  ): { known: boolean; note: Note | undefined; secret: CachedSecret | undefined; readAt: number | undefined };
  /** Reads the Secret by its name, whatever its labels; the whole of it, for who needs what is in it. */
  read(object: KubeObject, name: string): Promise<KubeObject | undefined>;
  /** What was written for this object by spec.output, under whatever names; without what is on its way out. */
  outputs(object: KubeObject): { known: boolean; found: Output[] };
  /** Own writes are believed at once, and no older state after them. What was noted of one is known, should a hook strip it. */
  put(written: KubeObject, noted?: Note): void;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** What is kept of what is in a Secret or ConfigMap. */
interface Facts {
  content: string | undefined;
  entries: Record<string, string>;
  /** What this process wrote about it. */
  noted: Note | undefined;
}

/** Reads by name, and notes of own writes, are kept for so long. */
const KEPT_MS = 3_600_000;

function forgetOld(entries: Map<string, { at: number }>, now: number): void {
  for (const [key, { at }] of entries) if (now - at > KEPT_MS) entries.delete(key);
}

const isOutput = ({ metadata }: KubeObject) => metadata.labels?.[OUTPUT] === "true";

const isNewer = (one: KubeObject, other: KubeObject): boolean =>
  compareVersions(one.metadata.resourceVersion ?? "", other.metadata.resourceVersion ?? "") > 0;

/** Whether a Secret is the object's own. */
const isOf = ({ metadata }: KubeObject, secret: KubeObject | undefined): boolean =>
  secret !== undefined && metadata.uid !== undefined && controllerOf(secret)?.uid === metadata.uid;

interface SecretCacheOptions {
  clock: Clock;
  onError: (error: unknown) => void;
  /** So many of a kind are kept in each namespace; others are read by their names. */
  limit?: LimitOf;
  crowded?: (kind: string, namespace: string) => void;
}

/** The Secrets or the ConfigMaps, as the watch and reads by name have shown them. */
function createSecretCache(
  resource: DataResource,
  { clock, onError: onListenerError, limit, crowded }: SecretCacheOptions,
) {
  const room = createNamespaceQuota(limit?.(resource.kind), (namespace) => crowded?.(resource.kind, namespace));
  const facts = new WeakMap<KubeObject, Facts>();
  /** Results of reads by name that are newer than the watch, or that it does not show. */
  const reads = new Map<string, { at: number; object: KubeObject | undefined }>();
  /** Notes of the last writes, for a Secret that loses label and note before status tells of its key. */
  const written = new Map<string, { at: number; noted: Note }>();
  const get = (key: string): KubeObject | undefined => {
    const [read, watched] = [reads.get(key), store.get(key)];
    return read && (!read.object || !watched || isNewer(read.object, watched)) ? read.object : watched;
  };
  /** What the object itself says; undefined for one that Mooring has not written, whatever its label says. */
  const said = (object: KubeObject): KubeObject | undefined => {
    const owner = ownerOf(object);
    if (!owner || facts.has(object)) return owner && object;
    const { apiVersion, kind } = object;
    const metadata = { ...reducedMetadata(object.metadata, OWN), ownerReferences: [owner] };
    const reduced = { apiVersion, kind, metadata };
    const hasKey = resource === SECRETS && !isOutput(object);
    facts.set(reduced, {
      content: isOutput(object) ? contentHash(object) : undefined,
      entries: hasKey ? entriesOf(object) : {},
      noted: undefined,
    });
    return reduced;
  };
  /** With what this process knows about it besides. */
  const keep = (reduced: KubeObject, noted?: Note): KubeObject => {
    const { content, entries } = facts.get(reduced) ?? { content: undefined, entries: {} };
    const key = keyOf(reduced);
    const before = facts.get(get(key) ?? reduced)?.noted ?? written.get(key)?.noted;
    const still = before && changedEntries(before, entries).length === 0 ? before : undefined;
    facts.set(reduced, { content, entries, noted: noted ?? still });
    return reduced;
  };
  const reduce = (object: KubeObject) => (ownerOf(object) && room.admit(keyOf(object)) ? said(object) : undefined);
  const store = createStore<KubeObject>({ onListenerError, reduce, keep: (object) => keep(object) });
  store.subscribe(({ key, after, last }) => {
    if (!after) room.leave(key);
    const read = reads.get(key);
    // An absence that was read stands until the watch shows another Secret; a list tells nothing of one without the label.
    const isOver = read?.object ? isNewer(after ?? last ?? read.object, read.object) : after !== undefined;
    if (isOver || (!after && !last)) reads.delete(key);
  });
  const remember = (key: string, object: KubeObject | undefined) => {
    const at = clock.monotonic();
    forgetOld(reads, at);
    reads.set(key, { at, object });
  };
  return {
    resource,
    store,
    get,
    factsOf: (object: KubeObject): Facts | undefined => facts.get(object),
    readAt: (key: string): number | undefined => reads.get(key)?.at,
    async read(client: KubeClient, namespace: string | undefined, name: string): Promise<KubeObject | undefined> {
      const key = keyOf({ metadata: { ...(namespace !== undefined && { namespace }), name } });
      const before = store.get(key);
      const found = await fetchObject(client, resource, { namespace, name });
      // One that the watch has shown meanwhile may be younger than the answer.
      const reduced = found && said(found);
      if (found || store.get(key) === before) remember(key, reduced && keep(reduced));
      return found;
    },
    put(object: KubeObject, noted?: Note): void {
      const key = keyOf(object);
      const at = clock.monotonic();
      forgetOld(written, at);
      if (noted) written.set(key, { at, noted });
      const reduced = said(object);
      if (!reduced) {
        store.put(object);
        return;
      }
      const kept = keep(reduced, noted);
      store.put(reduced);
      const stored = store.get(key);
      const known = facts.get(kept);
      // Without the label, the store takes it for older than a deletion that the watch has shown.
      if (!stored || isNewer(kept, stored)) remember(key, kept);
      else if (known && !isNewer(stored, kept)) facts.set(stored, known);
    },
  };
}

export function createPublications(
  options: SecretCacheOptions & {
    client: KubeClient;
    seal: Pick<Signatures, "read">;
    namespace?: string;
    wake: (key: ObjectKey) => void;
  },
): Publications {
  const { client, clock, seal, namespace, wake, onError } = options;
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
  const watchers: Watcher[] = [];
  return {
    find(object, name) {
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
    async read(object, name) {
      const found = await secrets.read(client, object.metadata.namespace, name);
      return isOf(object, found) ? found : undefined;
    },
    outputs({ metadata }) {
      const found = outputs.get(metadata.uid ?? "").flatMap((id) => {
        const { resource, store, factsOf } = id.startsWith("Secret/") ? secrets : configMaps;
        const object = store.get(id.slice(id.indexOf("/") + 1));
        return object && !object.metadata.deletionTimestamp
          ? [{ resource, object, content: factsOf(object)?.content }]
          : [];
      });
      return { known, found };
    },
    put: (written, noted) => (written.kind === CONFIG_MAPS.kind ? configMaps : secrets).put(written, noted),
    async sync() {
      const labelSelector = `${MANAGED_BY}=mooring`;
      const within = namespace && { namespace };
      for (const { resource, store } of watched)
        watchers.push(watch({ client, resource, labelSelector, store, clock, onError, ...within }));
      await Promise.all(watchers.map(({ synced }) => synced));
      known = true;
    },
    async close() {
      await Promise.all(watchers.map((watcher) => watcher.stop()));
    },
  };
}
