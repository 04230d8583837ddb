import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../runtime/clock.ts";
import { isConflict, isNotFound } from "../client/errors.ts";
import type { KubeClient } from "../client/transport.ts";
import { type KubeObject, keyOf, pathOf } from "../resource.ts";
import { createFollowed, fetchObject } from "../watch/followed.ts";
import { createIndex } from "../watch/keyed-index.ts";
import { hasMoreFinalizers } from "../watch/reduced.ts";
import { apply } from "./apply.ts";
import { SECRETS, secretValue } from "./owned-secret.ts";

/**
 * Secrets that users bring and that must not go while they are needed. No other Secret of the cluster is read. While one is
 * used, it has a label, by which it is watched, and a finalizer: when a namespace is deleted, everything in it goes at the
 * same time, and without the token in it nothing could be cleaned up.
 */
export interface HeldSecrets {
  /** The value of a key, on behalf of a user; not `known` until the Secret was looked for. */
  read(user: string, namespace: string, name: string, key: string): { known: boolean; value: string | undefined };
  /** Keeps the Secret from going. */
  hold(user: string): Promise<void>;
  /** Lets it go, unless another user needs it. */
  release(user: string): Promise<void>;
  /** Reads it no longer on behalf of this user, and leaves it as it is: another process holds it. */
  forget(user: string): void;
  /** Lets go of all but these (namespace/name): a process that died may not have got to it. */
  releaseOthers(named: ReadonlySet<string>): Promise<void>;
  /** Begins to watch. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** What a Secret carries while it is held. */
interface Marks {
  label: string;
  finalizer: string;
}

export function createHeldSecrets(
  options: Marks & {
    client: KubeClient;
    clock: Clock;
    namespace?: string;
    /** The Secret of this user has changed, appeared or gone. */
    wake: (user: string) => void;
    onError: (error: unknown) => void;
  },
): HeldSecrets {
  const { client, wake, onError } = options;
  /** Users by the Secrets that they name. */
  const users = createIndex();
  const secretOf = (user: string): string => users.wordsOf(user)[0] ?? "";
  const followed = createFollowed({
    ...options,
    resource: SECRETS,
    changed(key, before, after) {
      const isNews = !before || !after || !isHeld(options, after) || !isDeepStrictEqual(before.data, after.data);
      if (isNews) for (const user of users.get(key)) wake(user);
    },
  });

  /** The Secret, when nobody needs it any more. */
  function forget(user: string): KubeObject | undefined {
    const key = secretOf(user);
    users.set(user, []);
    return users.get(key).length > 0 ? undefined : followed.forget(key);
  }

  async function release(user: string): Promise<void> {
    const secret = forget(user);
    if (secret) await letGo(client, options, secret);
  }

  return {
    read(user, namespace, name, key) {
      const secret = `${namespace}/${name}`;
      if (secretOf(user) !== secret) release(user).catch(onError);
      users.set(user, [secret]);
      const { known, object } = followed.follow(secret);
      return { known, value: object && secretValue(object, key) };
    },
    async hold(user) {
      const secret = followed.get(secretOf(user));
      // An object on its way out takes no new finalizers.
      if (!secret || isHeld(options, secret) || secret.metadata.deletionTimestamp) return;
      const held = await keep(client, options, secret);
      if (held) followed.put(held);
    },
    release,
    forget: (user) => void forget(user),
    async releaseOthers(named) {
      // What gets the label meanwhile has it for an Account that came later.
      for (const secret of [...followed.labelled()])
        if (!named.has(keyOf(secret))) await letGo(client, options, secret);
    },
    sync: followed.sync,
    close: followed.close,
  };
}

const isHeld = ({ label, finalizer }: Marks, { metadata }: KubeObject) =>
  metadata.labels?.[label] === "true" && metadata.finalizers?.includes(finalizer);

/** Adds label and finalizer and writes nothing else; undefined when the Secret has gone meanwhile. */
async function keep(
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

/** Takes both away, also those that came with the Secret out of a backup, which apply would leave. */
async function letGo(client: KubeClient, { label, finalizer }: Marks, secret: KubeObject): Promise<void> {
  const { name, namespace, uid } = secret.metadata;
  const fetched = () => fetchObject(client, SECRETS, { namespace, name });
  let current: KubeObject | undefined = hasMoreFinalizers(secret) ? await fetched() : secret;
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
      current = await fetched();
    }
  }
}
