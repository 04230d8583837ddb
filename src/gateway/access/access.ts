/** What one object lets the workloads of its namespace do. */
export interface Access {
  namespace: string;
  name: string;
  models: readonly string[];
  /** The most that its calls may cost in a day of UTC; absent: there is no limit. */
  eurPerDay?: number | undefined;
  /** The most tokens that an answer may have; absent: there is no limit. */
  tokensPerCall?: number | undefined;
  /** The most that the calls of its whole namespace may cost in a day of UTC, as a ClusterAccount says. */
  ofNamespace?: { account: string; eurPerDay: number } | undefined;
}

/** Who may use what, at this moment. */
export interface Accesses {
  of(namespace: string): readonly Access[];
}

/** Headers that prove who calls the platform; `refused` right after it said 401: answer with something newer if there is. */
export type Credentials = (refused: boolean) => Promise<Record<string, string>>;

/** Accesses that do not change. */
export function fixedAccesses(all: readonly Access[]): Accesses {
  const byNamespace = Map.groupBy(all, ({ namespace }) => namespace);
  return { of: (namespace) => byNamespace.get(namespace) ?? [] };
}
