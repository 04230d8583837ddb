/** More hosts than the endpoints of an Account name in all regions; who names ever new ones pushes out the first. */
const most = 64;

/** One of something per host, made when it is asked for. */
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
