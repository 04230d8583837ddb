/** More hosts than an Account's endpoints have in all regions. An Account that uses ever new hosts evicts the oldest. */
const most = 64;

/** One value per host, created on first use. */
export interface ByHost<T> {
  (host: string): T;
  all(): Iterable<T>;
}

export function byHost<T>(create: () => T): ByHost<T> {
  const known = new Map<string, T>();
  const at = (host: string) => {
    const one = known.get(host) ?? create();
    known.set(host, one);
    const [oldest] = known.keys();
    if (known.size > most && oldest !== undefined) known.delete(oldest);
    return one;
  };
  return Object.assign(at, { all: () => known.values() });
}
