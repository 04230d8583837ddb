import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../clock.ts";
import { apply } from "../../kube/apply.ts";
import { isConflict, isNotFound } from "../../kube/errors.ts";
import { createFollowed, fetchObject } from "../../kube/followed.ts";
import { createIndex } from "../../kube/keyed-index.ts";
import { SECRETS, secretValue } from "../../kube/owned-secret.ts";
import { type KubeObject, keyOf, pathOf } from "../../kube/resource.ts";
import type { KubeClient } from "../../kube/transport.ts";
import { CREDENTIALS, FINALIZER } from "../objects/names.ts";

/**
 * The Secrets that Accounts take their tokens from. No other Secret of the cluster is read. While an Account uses it, it has
 * a label, by which it is watched, and a finalizer: when a namespace is deleted, everything in it goes at the same time, and
 * without the token nothing could be cleaned up.
 */
export interface CredentialSecrets {
  /** The value of a key, on behalf of an Account; not `known` until the Secret was looked for. */
  read(account: string, namespace: string, name: string, key: string): { known: boolean; value: string | undefined };
  /** Keeps the Secret from going. */
  hold(account: string): Promise<void>;
  /** Lets it go, unless another Account needs it. */
  release(account: string): Promise<void>;
  /** Lets go of all but these (namespace/name): a process that died may not have got to it. */
  releaseOthers(named: ReadonlySet<string>): Promise<void>;
  /** Begins to watch. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export function createCredentialSecrets(options: {
  client: KubeClient;
  clock: Clock;
  namespace?: string;
  /** The Secret of this Account has changed, appeared or gone. */
  wake: (account: string) => void;
  onError: (error: unknown) => void;
}): CredentialSecrets {
  const { client, wake, onError } = options;
  /** Accounts by the Secrets that they name. */
  const users = createIndex();
  const secretOf = (account: string): string => users.wordsOf(account)[0] ?? "";
  const followed = createFollowed({
    ...options,
    resource: SECRETS,
    label: CREDENTIALS,
    changed(key, before, after) {
      const isNews = !before || !after || !isHeld(after) || !isDeepStrictEqual(before.data, after.data);
      if (isNews) for (const account of users.get(key)) wake(account);
    },
  });

  async function release(account: string): Promise<void> {
    const key = secretOf(account);
    users.set(account, []);
    if (users.get(key).length > 0) return;
    const secret = followed.forget(key);
    if (secret) await letGo(client, secret);
  }

  return {
    read(account, namespace, name, key) {
      const secret = `${namespace}/${name}`;
      if (secretOf(account) !== secret) release(account).catch(onError);
      users.set(account, [secret]);
      const { known, object } = followed.follow(secret);
      return { known, value: object && secretValue(object, key) };
    },
    async hold(account) {
      const secret = followed.get(secretOf(account));
      // An object on its way out takes no new finalizers.
      if (!secret || isHeld(secret) || secret.metadata.deletionTimestamp) return;
      const held = await keep(client, secret);
      if (held) followed.put(held);
    },
    release,
    async releaseOthers(named) {
      // What gets the label meanwhile has it for an Account that came later.
      for (const secret of [...followed.labelled()]) if (!named.has(keyOf(secret))) await letGo(client, secret);
    },
    sync: followed.sync,
    close: followed.close,
  };
}

const isHeld = ({ metadata }: KubeObject) =>
  metadata.labels?.[CREDENTIALS] === "true" && metadata.finalizers?.includes(FINALIZER);

/** Adds label and finalizer and writes nothing else; undefined when the Secret has gone meanwhile. */
async function keep(client: KubeClient, secret: KubeObject): Promise<KubeObject | undefined> {
  const { name, namespace, uid } = secret.metadata;
  const marks = { labels: { [CREDENTIALS]: "true" }, finalizers: [FINALIZER] };
  const metadata = { name, ...(namespace && { namespace }), ...(uid && { uid }), ...marks };
  try {
    return await apply(client, SECRETS, { apiVersion: "v1", kind: "Secret", metadata });
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return undefined;
    throw error;
  }
}

/** Takes both away, also those that came with the Secret out of a backup, which apply would leave. */
async function letGo(client: KubeClient, secret: KubeObject): Promise<void> {
  const { name, namespace, uid } = secret.metadata;
  for (let current: KubeObject | undefined = secret; current && current.metadata.uid === uid; ) {
    const { resourceVersion, labels, finalizers = [] }: KubeObject["metadata"] = current.metadata;
    if (labels?.[CREDENTIALS] === undefined && !finalizers.includes(FINALIZER)) return;
    const others = finalizers.filter((each) => each !== FINALIZER);
    const body = { metadata: { uid, resourceVersion, finalizers: others, labels: { [CREDENTIALS]: null } } };
    try {
      const path = pathOf(SECRETS, { namespace, name });
      await client.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error)) throw error;
      current = await fetchObject(client, SECRETS, { namespace, name });
    }
  }
}
