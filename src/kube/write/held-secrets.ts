import { isDeepStrictEqual } from "node:util";
import { isConflict, isNotFound } from "../client/errors.ts";
import type { KubeClient } from "../client/transport.ts";
import { type KubeObject, keyOf, pathOf, SECRETS } from "../resource.ts";
import { createFollowed, fetchObject } from "../watch/followed.ts";
import { createIndex } from "../watch/keyed-index.ts";
import { hasMoreFinalizers } from "../watch/reduced.ts";
import type { Watching } from "../watch/watch.ts";
import { apply } from "./apply.ts";
import { secretValue } from "./owned-secret.ts";

interface Held {
  known: boolean;
  value: string | undefined;
  leaving?: boolean;
}

/**
 * User-provided Secrets that must not be deleted while they are needed. A `user` is an object that needs one, such as an Account.
 * No other Secret of the cluster is read. While a Secret is used, it has a label, by which it is watched, and a finalizer: when a
 * namespace is deleted, all its objects are deleted at the same time, and without the token nothing could be cleaned up.
 */
export interface HeldSecrets {
  /** The value of a key, read for a user. `known` is false until the Secret was read once, `leaving` true while it is deleted. */
  read(user: string, namespace: string, name: string, key: string): Held;
  /** Adds label and finalizer to the user's Secret. */
  hold(user: string): Promise<void>;
  /** Removes label and finalizer, unless another user needs the Secret. */
  release(user: string): Promise<void>;
  /** Stops reading the Secret for this user, but leaves its finalizer: another process holds the Secret. */
  forget(user: string): void;
  /** Releases all Secrets but these (namespace/name): a process that died may not have released them. */
  releaseOthers(named: ReadonlySet<string>): Promise<void>;
  /** Starts the watch. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Label and finalizer of a held Secret. */
interface Marks {
  label: string;
  finalizer: string;
}

export function createHeldSecrets(
  options: Marks &
    Watching & {
      /** The Secret of this user was created, changed or deleted. */
      wake: (user: string) => void;
    },
): HeldSecrets {
  const { client, wake, onError } = options;
  /** Users by the Secret that they name. */
  const users = createIndex();
  const secretOf = (user: string): string => users.wordsOf(user)[0] ?? "";
  const followed = createFollowed({
    ...options,
    resource: SECRETS,
    changed(key, before, after) {
      const isChanged = () => isLeaving(before) !== isLeaving(after) || !isDeepStrictEqual(before?.data, after?.data);
      if (!before || !after || !isHeld(options, after) || isChanged()) for (const user of users.get(key)) wake(user);
    },
  });

  /** Returns the Secret if no other user needs it. */
  function forget(user: string): KubeObject | undefined {
    const key = secretOf(user);
    users.set(user, []);
    return users.get(key).length > 0 ? undefined : followed.forget(key);
  }

  async function release(user: string): Promise<void> {
    const secret = forget(user);
    if (secret) await removeMarks(client, options, secret);
  }

  return {
    read(user, namespace, name, key) {
      const secret = `${namespace}/${name}`;
      if (secretOf(user) !== secret) release(user).catch(onError);
      users.set(user, [secret]);
      const { known, object } = followed.follow(secret);
      return { known, value: object && secretValue(object, key), ...(isLeaving(object) && { leaving: true }) };
    },
    async hold(user) {
      const secret = followed.get(secretOf(user));
      // The API server accepts no new finalizers on an object that is being deleted.
      if (!secret || isHeld(options, secret) || secret.metadata.deletionTimestamp) return;
      const held = await addMarks(client, options, secret);
      if (held) followed.put(held);
    },
    release,
    forget: (user) => void forget(user),
    async releaseOthers(named) {
      // Iterates over a copy: a Secret labelled meanwhile belongs to an Account that came later.
      for (const secret of [...followed.labelled()])
        if (!named.has(keyOf(secret))) await removeMarks(client, options, secret);
    },
    sync: followed.sync,
    close: followed.close,
  };
}

const isLeaving = (secret: KubeObject | undefined): boolean => secret?.metadata.deletionTimestamp !== undefined;

const isHeld = ({ label, finalizer }: Marks, { metadata }: KubeObject) =>
  metadata.labels?.[label] === "true" && metadata.finalizers?.includes(finalizer);

/** Adds label and finalizer, and changes nothing else; undefined when the Secret was deleted meanwhile. */
async function addMarks(
  client: KubeClient,
  { label, finalizer }: Marks,
  secret: KubeObject,
): Promise<KubeObject | undefined> {
  const { name, namespace, uid } = secret.metadata;
  const marks = { labels: { [label]: "true" }, finalizers: [finalizer] };
  const metadata = { name, ...(namespace && { namespace }), ...(uid && { uid }), ...marks };
  try {
    return await apply(client, SECRETS, { apiVersion: "v1", kind: "Secret", metadata });
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return undefined;
    throw error;
  }
}

/** Removes label and finalizer by a patch: an apply would leave them on a Secret that was restored from a backup. */
async function removeMarks(client: KubeClient, { label, finalizer }: Marks, secret: KubeObject): Promise<void> {
  const { name, namespace, uid } = secret.metadata;
  const fetchSecret = () => fetchObject(client, SECRETS, { namespace, name });
  let current: KubeObject | undefined = hasMoreFinalizers(secret) ? await fetchSecret() : secret;
  while (current && current.metadata.uid === uid) {
    const { resourceVersion, labels, finalizers = [] }: KubeObject["metadata"] = current.metadata;
    if (labels?.[label] === undefined && !finalizers.includes(finalizer)) return;
    const others = finalizers.filter((each) => each !== finalizer);
    const body = { metadata: { uid, resourceVersion, finalizers: others, labels: { [label]: null } } };
    try {
      const path = pathOf(SECRETS, { namespace, name });
      await client.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error)) throw error;
      current = await fetchSecret();
    }
  }
}
