/** The rights that one InferenceAccess gives to the workloads of its namespace. */
export interface Access {
  namespace: string;
  name: string;
  models: readonly string[];
  /** Daily budget (UTC) in EUR; absent: no limit. */
  eurPerDay?: number | undefined;
  /** Maximum tokens of an answer; absent: no limit. */
  tokensPerCall?: number | undefined;
  /** Daily budget (UTC) of the whole namespace, set by the ClusterAccount. */
  ofNamespace?: { account: string; eurPerDay: number } | undefined;
}

/** The current accesses by namespace. */
export interface Accesses {
  of(namespace: string): readonly Access[];
}

/**
 * Headers with the gateway's credentials for the platform. `refused`: the platform has just answered 401, so return
 * newer credentials if there are any.
 */
export type Credentials = (refused: boolean) => Promise<Record<string, string>>;

export function fixedAccesses(all: readonly Access[]): Accesses {
  const byNamespace = Map.groupBy(all, ({ namespace }) => namespace);
  return { of: (namespace) => byNamespace.get(namespace) ?? [] };
}
