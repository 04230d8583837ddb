/** More hosts than the endpoints of an Account name in all regions; who names ever new ones pushes out the first. */
const most = 64;

/** One of something per host, made when it is asked for. */
export function byHost<T>(create: () => T): (host: string) => T {
  const known = new Map<string, T>();
  return (host) => {
    const one = known.get(host) ?? create();
    known.set(host, one);
    const [oldest] = known.keys();
    if (known.size > most && oldest !== undefined) known.delete(oldest);
    return one;
  };
}
