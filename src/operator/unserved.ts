import { SHARD } from "../engine/state/names.ts";
import { isNotFound } from "../kube/client/errors.ts";
import type { KubeClient } from "../kube/client/transport.ts";
import { leaseRecord } from "../kube/lease/lease-record.ts";
import type { KubeObject } from "../kube/resource.ts";
import type { EventRecorder } from "../kube/write/events.ts";
import { type Clock, sleep } from "../runtime/clock.ts";
import { leaseOf } from "./lease-name.ts";

/** Shards are often started together: gives the others time to acquire their Leases. */
const START_MS = 15_000;
/** Long enough for any holder to renew its Lease in between. */
const CHECK_MS = 30_000;
/** How often the Event is repeated while the problem lasts. */
const REPEAT_MS = 600_000;
const DEADLINE_MS = 10_000;

/**
 * Finds namespaces whose shard is not running: their label names a shard whose Lease has no live holder. Nothing in them is
 * reconciled, and no other operator reports it. Runs until the signal aborts.
 */
export async function watchShards(options: {
  client: KubeClient;
  clock: Clock;
  /** The operator's namespace, with the Leases. */
  namespace: string;
  namespaces: () => Iterable<KubeObject>;
  events: Pick<EventRecorder, "record">;
  /** Called after every check with the number of namespaces of each shard that is not running. */
  observe: (unserved: ReadonlyMap<string, number>) => void;
  onError: (error: unknown) => void;
  signal: AbortSignal;
}): Promise<void> {
  const { client, clock, namespace, events, signal } = options;
  /** The renewTime of each Lease at the last check. */
  const renewTimes = new Map<string, string>();
  /** When the Event of each namespace may be repeated. */
  const repeatAt = new Map<string, number>();

  /** Whether the shard's Lease was renewed since the last check; true also when that is unknown. */
  async function isRunning(shard: string): Promise<boolean> {
    const name = leaseOf(shard);
    try {
      const { spec = {} } = await leaseRecord(client, { namespace, name, deadlineMs: DEADLINE_MS }).read(signal);
      const { holderIdentity, renewTime = "" } = spec;
      const before = renewTimes.get(shard);
      renewTimes.set(shard, renewTime);
      return Boolean(holderIdentity) && before !== renewTime;
    } catch (error) {
      if (isNotFound(error)) return false;
      if (!signal.aborted) options.onError(error);
      return true;
    }
  }

  async function check(): Promise<void> {
    const labelled = Map.groupBy(options.namespaces(), ({ metadata }) => metadata.labels?.[SHARD]);
    const unserved = new Map<string, number>();
    const solved = new Set(repeatAt.keys());
    for (const [shard, members] of labelled) {
      if (shard === undefined || (await isRunning(shard))) continue;
      unserved.set(shard, members.length);
      for (const member of members) {
        solved.delete(member.metadata.name);
        warn(shard, member);
      }
    }
    for (const name of solved) repeatAt.delete(name);
    for (const shard of renewTimes.keys()) if (!labelled.has(shard)) renewTimes.delete(shard);
    options.observe(unserved);
  }

  function warn(shard: string, { metadata, ...member }: KubeObject): void {
    const now = clock.monotonic();
    if (now < (repeatAt.get(metadata.name) ?? now)) return;
    repeatAt.set(metadata.name, now + REPEAT_MS);
    const message = `shard ${shard} is not running: objects of this namespace are not reconciled; start it, or change or remove the label ${SHARD}`;
    // `kubectl describe namespace` looks for Events in that namespace.
    const here = { ...member, metadata: { ...metadata, namespace: metadata.name } };
    events.record(here, "Warning", "ShardNotRunning", message);
  }

  const wait = (ms: number) => sleep(clock, ms, signal).catch(() => {});
  for (await wait(START_MS); !signal.aborted; await wait(CHECK_MS)) await check().catch(options.onError);
}
