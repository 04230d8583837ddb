import type { KubeClient } from "../client/transport.ts";
import { apiVersionOf, type KubeObject, pathOf, type Resource } from "../resource.ts";

export const LEASES: Resource = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
};

export interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}

export interface Lease extends KubeObject {
  spec?: LeaseSpec;
}

/** One Lease in the cluster. Every write carries the resourceVersion that was read, so concurrent writers get a conflict. */
export interface LeaseRecord {
  read(signal?: AbortSignal): Promise<Lease>;
  /** Replaces `before`, or creates the lease when there is none. */
  write(before: Lease | undefined, spec: LeaseSpec, signal?: AbortSignal): Promise<Lease>;
}

export function leaseRecord(
  client: KubeClient,
  { namespace, name, deadlineMs }: { namespace: string; name: string; deadlineMs: number },
): LeaseRecord {
  const path = pathOf(LEASES, { namespace, name });
  return {
    read: (signal) => client.request<Lease>({ method: "GET", path, deadlineMs, ...(signal && { signal }) }),
    write(before, spec, signal) {
      const fresh = { apiVersion: apiVersionOf(LEASES), kind: LEASES.kind, metadata: { name } };
      return client.request<Lease>({
        ...(before ? { method: "PUT", path } : { method: "POST", path: pathOf(LEASES, { namespace }) }),
        body: { ...(before ?? fresh), spec },
        deadlineMs,
        ...(signal && { signal }),
      });
    },
  };
}

/** The spec with which `identity` acquires or renews the lease. */
export function holding(before: LeaseSpec | undefined, identity: string, durationMs: number, now: number): LeaseSpec {
  const renewTime = microTime(now);
  const mine = before?.holderIdentity === identity;
  return {
    ...before,
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1000),
    acquireTime: (mine && before.acquireTime) || renewTime,
    renewTime,
    leaseTransitions: (before?.leaseTransitions ?? 0) + (before && !mine ? 1 : 0),
  };
}

/** The spec with which the holder releases the lease, so that another candidate can acquire it at once. */
export function released(before: LeaseSpec, now: number): LeaseSpec {
  const time = microTime(now);
  return { ...before, holderIdentity: "", leaseDurationSeconds: 1, acquireTime: time, renewTime: time };
}

/** RFC 3339 with six fractional digits, the only format that a Lease accepts. */
const microTime = (ms: number): string => new Date(ms).toISOString().replace("Z", "000Z");
