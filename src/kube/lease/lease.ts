import { isDeepStrictEqual } from "node:util";
import { type Clock, sleep } from "../../runtime/clock.ts";
import { isConflict, isNotFound } from "../client/errors.ts";
import type { KubeClient } from "../client/transport.ts";
import { holding, type Lease, leaseRecord, released } from "./lease-record.ts";

export interface Election {
  /** Resolves when leadership is won. */
  readonly acquired: Promise<void>;
  /** Resolves when leadership was held and is gone without having been released. It does not come back. */
  readonly lost: Promise<void>;
  /**
   * Judged by the local monotonic clock alone: true only while the renew deadline has not passed, whatever the network
   * or a frozen process did meanwhile. Once false after having been true, never true again.
   */
  held(): boolean;
  /**
   * Stops; gives the lease back when it is held, so that the next candidate need not wait for it to expire.
   * To be called after the last thing done as leader.
   */
  release(): Promise<void>;
}

export interface ElectionOptions {
  client: KubeClient;
  namespace: string;
  name: string;
  /**
   * Unique among all candidates that ever live at the same time. A lease that is held by this identity is taken at once:
   * whoever held it is dead. The name of a pod will do, because kubelet never runs two containers of one name in a pod at
   * the same time; what an earlier one had sent to the API server and is still on its way meets a newer resourceVersion.
   */
  identity: string;
  clock: Clock;
  random?: () => number;
  /** How long the others wait after the last renewal they saw. Default 15 s. */
  durationMs?: number;
  /** How long after its last renewal the holder may act. Default 10 s: the difference is the margin of safety. */
  renewDeadlineMs?: number;
  /** Default 2 s. */
  retryMs?: number;
  log?: (message: string, error?: unknown) => void;
}

type State =
  | { name: "seeking" }
  /** `renewedAt` is when the last successful renewal was sent: nobody else can have seen it earlier. */
  | { name: "leading"; renewedAt: number }
  | { name: "lost" }
  | { name: "released" };

/** The lease as last read or written, and when on our clock its spec was first seen like that. */
interface Seen {
  lease: Lease;
  at: number;
}

/** Leader election over a Lease by client-go's rules: another machine's times are never compared with ours. */
export function elect(options: ElectionOptions): Election {
  const { client, namespace, name, identity, clock, random = Math.random } = options;
  const { durationMs = 15_000, renewDeadlineMs = 10_000, retryMs = 2_000 } = options;
  // Half the deadline leaves time for a second try.
  const record = leaseRecord(client, { namespace, name, deadlineMs: renewDeadlineMs / 2 });
  const stopping = new AbortController();
  const acquired = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<void>();
  const log = (said: string, error?: unknown) => options.log?.(`lease ${namespace}/${name} ${said}`, error);
  let state: State = { name: "seeking" };
  let seen: Seen | undefined;
  let wrote = false;
  let waitingFor: string | undefined;
  let cancelDeadline = () => {};

  function held(): boolean {
    if (state.name !== "leading") return false;
    if (clock.monotonic() - state.renewedAt < renewDeadlineMs) return true;
    lose(`was not renewed within ${renewDeadlineMs / 1000} s`);
    return false;
  }

  function lose(why: string): void {
    state = { name: "lost" };
    cancelDeadline();
    log(why);
    lost.resolve();
    stopping.abort();
  }

  function lead(sentAt: number): void {
    const won = state.name === "seeking";
    const left = sentAt + renewDeadlineMs - clock.monotonic();
    // An answer that comes too late is none.
    if (left <= 0 || (!won && !held())) return;
    state = { name: "leading", renewedAt: sentAt };
    cancelDeadline();
    cancelDeadline = clock.after(left, held);
    if (!won) return;
    log(`is held by ${identity}`);
    acquired.resolve();
  }

  function see(lease: Lease): Seen {
    // Labels and annotations may change without the holder being alive.
    const same = seen && isDeepStrictEqual(seen.lease.spec, lease.spec);
    return { lease, at: seen && same ? seen.at : clock.monotonic() };
  }

  function isFree({ lease, at }: Seen): boolean {
    const { holderIdentity, leaseDurationSeconds } = lease.spec ?? {};
    const ms = leaseDurationSeconds === undefined ? durationMs : leaseDurationSeconds * 1000;
    return !holderIdentity || holderIdentity === identity || clock.monotonic() - at >= ms;
  }

  async function look(): Promise<void> {
    try {
      seen = see(await record.read(stopping.signal));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      seen = undefined;
    }
  }

  /** Whoever looks at a process that does nothing learns who does it instead. */
  function standBy(holder: string | undefined): void {
    if (holder !== waitingFor) log(`is held by ${holder}: standing by`);
    waitingFor = holder;
  }

  /** Creates, takes or renews the lease if that is possible now. The holder writes without looking: one call. */
  async function attempt(): Promise<void> {
    if (state.name === "seeking") await look();
    if (seen && !isFree(seen)) return standBy(seen.lease.spec?.holderIdentity);
    wrote = true;
    const sentAt = clock.monotonic();
    const spec = holding(seen?.lease.spec, identity, durationMs, clock.now());
    seen = see(await record.write(seen?.lease, spec, stopping.signal));
    lead(sentAt);
  }

  /** The write was refused because the lease is not what was last seen. */
  async function afterRefusal(): Promise<void> {
    await look();
    const holder = seen?.lease.spec?.holderIdentity;
    if (state.name === "leading" && seen && holder !== identity) lose(`was taken by ${holder || "nobody"}`);
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await attempt();
      } catch (error) {
        if (stopping.signal.aborted) return;
        if (isConflict(error) || isNotFound(error))
          await afterRefusal().catch((again: unknown) => log("failed", again));
        else log("could not be read or written", error);
      }
      // Candidates spread out; the holder keeps its pace.
      const wait = state.name === "leading" ? retryMs : retryMs * (1 + 1.2 * random());
      await sleep(clock, wait, stopping.signal).catch(() => {});
    }
  }

  async function giveBack(): Promise<void> {
    // The last renewal may have been cut off: what the lease says now decides.
    const lease = await record.read();
    if (lease.spec?.holderIdentity === identity) await record.write(lease, released(lease.spec, clock.now()));
  }

  const running = run();

  return {
    acquired: acquired.promise,
    lost: lost.promise,
    held,
    async release() {
      held();
      // Even a candidate may have become the holder by a write whose answer it no longer waits for. Who lost the lease
      // leaves it to expire: something it began may still be under way.
      const giving = wrote && state.name !== "lost";
      if (state.name !== "lost") state = { name: "released" };
      cancelDeadline();
      stopping.abort();
      await running;
      // A lease that does not exist needs no release.
      const failed = (error: unknown) => (isNotFound(error) ? undefined : log("could not be released", error));
      if (giving) await giveBack().catch(failed);
    },
  };
}
