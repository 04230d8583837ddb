import { type Clock, sleep } from "../../runtime/clock.ts";
import { isConflict, isNotFound } from "../client/errors.ts";
import type { KubeClient } from "../client/transport.ts";
import { holding, leaseRecord, released } from "./lease-record.ts";
import { observeLease } from "./observed-lease.ts";

export interface Election {
  /** Resolves when leadership is won. */
  readonly acquired: Promise<void>;
  /** Resolves when leadership was lost without a release. It is never regained. */
  readonly lost: Promise<void>;
  /**
   * Decided by the local monotonic clock alone: true only until the renew deadline, even if the network failed or the process
   * was frozen meanwhile. Once it turns false, it stays false.
   */
  held(): boolean;
  /**
   * Stops, and releases the lease if it is held, so that the next candidate need not wait for it to expire. Call it after the
   * last action as leader.
   */
  release(): Promise<void>;
}

export interface ElectionOptions {
  client: KubeClient;
  namespace: string;
  name: string;
  /**
   * Unique among all candidates alive at the same time. A lease held by this identity is acquired at once, because its former
   * holder is dead. A pod name is unique enough: kubelet never runs two containers of one name in a pod at the same time. A
   * write of the former container that is still in flight fails, because the resourceVersion has changed.
   */
  identity: string;
  clock: Clock;
  random?: () => number;
  /** How long candidates wait after the last renewal they observed. Default 15 s. */
  durationMs?: number;
  /** How long after its last renewal the holder may act. Default 10 s; the difference to `durationMs` is the safety margin. */
  renewDeadlineMs?: number;
  /** Default 2 s. */
  retryMs?: number;
  log?: (message: string, error?: unknown) => void;
}

type State =
  | { name: "seeking" }
  /** `renewedAt` is when the last successful renewal was sent: no candidate can have observed it earlier. */
  | { name: "leading"; renewedAt: number }
  | { name: "lost" }
  | { name: "released" };

/** Leader election over a Lease by client-go's rules: times of other machines are never compared with ours. */
export function elect(options: ElectionOptions): Election {
  const { client, namespace, name, identity, clock, random = Math.random } = options;
  const { durationMs = 15_000, renewDeadlineMs = 10_000, retryMs = 2_000 } = options;
  // Half the deadline leaves time for one retry.
  const record = leaseRecord(client, { namespace, name, deadlineMs: renewDeadlineMs / 2 });
  const observed = observeLease(record, { identity, durationMs, clock });
  const stopping = new AbortController();
  const acquired = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<void>();
  const log = (said: string, error?: unknown) => options.log?.(`lease ${namespace}/${name} ${said}`, error);
  let state: State = { name: "seeking" };
  let hasWritten = false;
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
    // An answer after the deadline does not count.
    if (left <= 0 || (!won && !held())) return;
    state = { name: "leading", renewedAt: sentAt };
    cancelDeadline();
    cancelDeadline = clock.after(left, held);
    if (!won) return;
    log(`is held by ${identity}`);
    acquired.resolve();
  }

  /** Logs who leads, so that the log of a standby process says why it does nothing. */
  function standBy(holder: string | undefined): void {
    if (holder !== waitingFor) log(`is held by ${holder}: standing by`);
    waitingFor = holder;
  }

  /** Creates, acquires or renews the lease if possible now. The holder writes without a read first: one call. */
  async function attempt(): Promise<void> {
    if (state.name === "seeking") await observed.read(stopping.signal);
    if (!observed.isFree()) return standBy(observed.lease?.spec?.holderIdentity);
    hasWritten = true;
    const sentAt = clock.monotonic();
    const spec = holding(observed.lease?.spec, identity, durationMs, clock.now());
    await observed.write(spec, stopping.signal);
    lead(sentAt);
  }

  /** The write failed because the lease has changed since it was last read. */
  async function afterConflict(): Promise<void> {
    await observed.read(stopping.signal);
    const { lease } = observed;
    const holder = lease?.spec?.holderIdentity;
    if (state.name === "leading" && lease && holder !== identity) lose(`was taken by ${holder || "nobody"}`);
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await attempt();
      } catch (error) {
        if (stopping.signal.aborted) return;
        if (isConflict(error) || isNotFound(error))
          await afterConflict().catch((failure: unknown) => log("could not be read", failure));
        else log("could not be read or written", error);
      }
      // Jitter for candidates; the holder renews at a fixed interval.
      const wait = state.name === "leading" ? retryMs : retryMs * (1 + 1.2 * random());
      await sleep(clock, wait, stopping.signal).catch(() => {});
    }
  }

  async function writeRelease(): Promise<void> {
    // Read first: the last renewal may have been aborted in flight.
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
      // Also a candidate releases: a write that was aborted in flight may have made it the holder. A process that lost the
      // lease lets it expire, because something that it started may still be running.
      const mayBeHolder = hasWritten && state.name !== "lost";
      if (state.name !== "lost") state = { name: "released" };
      cancelDeadline();
      stopping.abort();
      await running;
      // A lease that does not exist needs no release.
      const failed = (error: unknown) => (isNotFound(error) ? undefined : log("could not be released", error));
      if (mayBeHolder) await writeRelease().catch(failed);
    },
  };
}
