import type { Log } from "../calls/call.ts";
import type { CollectionListener } from "./collection-interface.ts";

/** The listeners of a collection. One that throws is logged and affects no other. */
export interface Listeners {
  /** Returns the function to unsubscribe. */
  subscribe(listener: CollectionListener): () => void;
  readonly notify: CollectionListener;
  clear(): void;
}

export function createListeners(key: string, log: Log | undefined): Listeners {
  const listeners = new Set<CollectionListener>();
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    notify(ids) {
      for (const listener of [...listeners]) {
        try {
          listener(ids);
        } catch (error) {
          log?.warn({ err: error, collection: key }, "listener failed");
        }
      }
    },
    clear: () => listeners.clear(),
  };
}
