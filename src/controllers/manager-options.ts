import type { Deps } from "../engine/observe/deps.ts";
import type { ObjectKey } from "../engine/state/object.ts";
import type { Kind } from "../kinds/kind.ts";
import type { Queue } from "../kube/queue/queue.ts";
import type { ReconcileObserver } from "../kube/queue/work.ts";
import type { KubeObject } from "../kube/resource.ts";
import type { LimitOf } from "../kube/watch/age-limits.ts";
import type { Sites } from "../platform/addresses/account-addresses.ts";
import type { Transport } from "../platform/calls/transport.ts";

/** Called with every version of every object, for the metrics; with undefined when it is gone. */
export type ObjectObserver = (key: ObjectKey, object: KubeObject | undefined) => void;

export interface ManagerOptions
  extends Pick<Deps, "clock" | "log" | "client" | "seal" | "events" | "settings" | "guard"> {
  kinds: readonly Kind[];
  transport: Pick<Transport, "connect" | "close">;
  queue: Queue;
  busyMs: number;
  /** The operator's own namespace, where the Secrets of ClusterAccounts are. */
  home?: string;
  /** The operator's endpoints, and which others Accounts may name; any, when absent. */
  sites?: Sites;
  /** The most objects of a kind in a namespace; any number, when absent. */
  limit?: LimitOf;
  /** The name of the cluster on the platform, by default the uid of its namespace kube-system. Empty: it has none. */
  clusterName?: string | undefined;
  /** Only objects of this namespace; all when absent. */
  namespace?: string;
  /** Works only on namespaces whose label names this shard; on those without the label when absent. */
  shard?: string;
  /** Names this process. A pod has one at a time. */
  self: { pod: string; process: string };
  random?: () => number;
  observe?: ReconcileObserver;
  observeObject?: ObjectObserver;
  /** Receives the kind of an object whose drift was corrected. */
  observeDrift?: (kind: string) => void;
}
