import { z } from "zod";
import type { Clock } from "../../clock.ts";
import { controllerOf, SECRETS } from "../../kube/owned-secret.ts";
import { type KubeObject, metadataOnly } from "../../kube/resource.ts";
import { createStore } from "../../kube/store.ts";
import type { KubeClient } from "../../kube/transport.ts";
import { type Watcher, watch } from "../../kube/watch.ts";
import { certificateFacts, keyFacts } from "../schema/status-schema.ts";
import { MANAGED_BY, PUBLISHED } from "./names.ts";
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

/**
 * The Secrets that Mooring has written, as last seen: what they say about themselves, never what is in them. The object
 * a Secret belongs to hears of every change, so that a Secret that somebody deletes is missed at once.
 */
export interface PublishedSecrets {
  /**
   * Undefined when there is none of this name, or not this object's; not `known` until they were listed once; `current`
   * when it is signed with the key that signs now.
   */
  find(object: KubeObject, name: string): { known: boolean; note: Note | undefined; current: boolean };
  /** Own writes are believed at once, and no older state after them. */
  put(secret: KubeObject): void;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export function createPublishedSecrets(options: {
  client: KubeClient;
  clock: Clock;
  seal: Pick<Seal, "read">;
  namespace?: string;
  wake: (key: ObjectKey) => void;
  onError: (error: unknown) => void;
}): PublishedSecrets {
  const { client, clock, seal, namespace, wake, onError } = options;
  const store = createStore<KubeObject>({ onListenerError: onError, keep: metadataOnly });
  let known = false;
  store.subscribe(({ after, before }) => {
    const secret = after ?? before;
    const owner = secret && controllerOf(secret);
    if (owner) wake(objectKey(owner.kind, secret.metadata.namespace ?? "", owner.name));
  });
  let watcher: Watcher | undefined;
  return {
    find(object, name) {
      const secret = store.get(`${object.metadata.namespace ?? ""}/${name}`);
      const isTheirs = secret && controllerOf(secret)?.uid === object.metadata.uid;
      const said = isTheirs ? seal.read("Secret", secret, PUBLISHED) : undefined;
      // A note that somebody has spoilt counts as absent: the key is then made anew.
      return { known, note: note.safeParse(said?.words).data, current: said?.current ?? false };
    },
    put: store.put,
    async sync() {
      const labelSelector = `${MANAGED_BY}=mooring`;
      watcher = watch({
        client,
        resource: SECRETS,
        labelSelector,
        store,
        clock,
        onError,
        ...(namespace && { namespace }),
      });
      await watcher.synced;
      known = true;
    },
    async close() {
      await watcher?.stop();
    },
  };
}
