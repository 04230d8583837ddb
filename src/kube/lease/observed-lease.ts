import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../runtime/clock.ts";
import { isNotFound } from "../client/errors.ts";
import type { Lease, LeaseRecord, LeaseSpec } from "./lease-record.ts";

/** The lease as a candidate last read or wrote it. */
export interface ObservedLease {
  /** Undefined before the first read, and when there was no lease. */
  readonly lease: Lease | undefined;
  /** Whether the candidate may write: there is no lease, nobody or the candidate itself holds it, or it has expired. */
  isFree(): boolean;
  read(signal: AbortSignal): Promise<void>;
  /** Replaces the lease as last observed. */
  write(spec: LeaseSpec, signal: AbortSignal): Promise<void>;
}

/**
 * A lease expires when our clock has not seen its spec change for its duration, or for `durationMs` if it does not name one.
 * Times in the lease are of other machines and do not count.
 */
export function observeLease(
  record: LeaseRecord,
  { identity, durationMs, clock }: { identity: string; durationMs: number; clock: Clock },
): ObservedLease {
  /** `at`: when the spec was first seen as it is. */
  let seen: { lease: Lease; at: number } | undefined;

  function observe(lease: Lease): void {
    // Only the spec counts: labels and annotations may change although the holder is dead.
    const same = seen && isDeepStrictEqual(seen.lease.spec, lease.spec);
    seen = { lease, at: seen && same ? seen.at : clock.monotonic() };
  }

  return {
    get lease() {
      return seen?.lease;
    },
    isFree() {
      if (!seen) return true;
      const { holderIdentity, leaseDurationSeconds } = seen.lease.spec ?? {};
      const ms = leaseDurationSeconds === undefined ? durationMs : leaseDurationSeconds * 1000;
      return !holderIdentity || holderIdentity === identity || clock.monotonic() - seen.at >= ms;
    },
    async read(signal) {
      try {
        observe(await record.read(signal));
      } catch (error) {
        if (!isNotFound(error)) throw error;
        seen = undefined;
      }
    },
    async write(spec, signal) {
      observe(await record.write(seen?.lease, spec, signal));
    },
  };
}
