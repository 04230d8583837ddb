import { isDeepStrictEqual } from "node:util";
import { isConflict, isForbidden, isNotFound } from "../kube/client/errors.ts";
import type { KubeClient } from "../kube/client/transport.ts";
import { holding, type Lease, leaseRecord } from "../kube/lease/lease-record.ts";
import { type Clock, sleep } from "../runtime/clock.ts";

/** The Lease by which installations detect each other. Its holder is the namespace of one installation's operators. */
export const INSTALLATION = "mooring-installation";
/**
 * The namespace of that Lease for an installation that watches all namespaces. With --watch-namespace, it is in the watched
 * namespace.
 */
export const SHARED_NAMESPACE = "kube-system";

/** A Lease that was not renewed for this long is free. An upgrade, or an outage that is noticed, takes less time. */
const DURATION_MS = 600_000;
const RENEW_MS = 120_000;
/** The poll interval: two installations overlap at most this long after the Lease of a running one is deleted. */
const POLL_MS = 5_000;
const DEADLINE_MS = 5_000;
const TRIES = 5;

/** This installation must stop: the Lease names another one. */
export class InstallationTaken extends Error {}

export interface Installation extends AsyncDisposable {
  /** Why this installation does nothing; undefined when it is not blocked by another one. */
  refusal(): string | undefined;
  /** Called by the leader. Resolves when no other installation works on the same objects. */
  acquire(): Promise<void>;
  /** Resolves when the Lease was acquired and another installation holds it now. */
  readonly lost: Promise<string>;
}

interface Options {
  client: KubeClient;
  clock: Clock;
  /** The operator's namespace. */
  namespace: string;
  watchNamespace?: string | undefined;
  log: { warn(detail: object, message: string): void; error(detail: object, message: string): void };
}

/**
 * Two installations that work on the same objects undo each other's work, so the second one waits until the Lease is free. A
 * Lease is free when it has not changed for its duration by our own clock; times of other machines are not compared.
 */
export function openInstallation({ client, clock, namespace, watchNamespace, log }: Options): Installation {
  const stopping = new AbortController();
  const acquired = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<string>();
  const ownMarker = createMarker(client, clock, watchNamespace ?? SHARED_NAMESPACE);
  // An installation for all namespaces makes this Lease readable for all service accounts. Forbidden means that there is none.
  const clusterWideMarker = watchNamespace === undefined ? undefined : createMarker(client, clock, SHARED_NAMESPACE);
  let leading = false;
  let isOurs = false;
  let renewedAt: number | undefined;
  let refusal: string | undefined;

  function refuse(other: string, marker: Marker, scope: string): void {
    const said = `another installation of Mooring, in namespace ${other}, works on ${scope}: this one does nothing; uninstall one of the two. To take over after the other has stopped: kubectl -n ${marker.namespace} delete lease ${INSTALLATION}`;
    if (said !== refusal) log.error({ other }, said);
    refusal = said;
    if (isOurs) lost.resolve(said);
  }

  function accept(): void {
    isOurs = true;
    acquired.resolve();
  }

  async function attempt(): Promise<void> {
    const clusterWide = await clusterWideMarker?.holder().catch(ignoreForbidden);
    if (clusterWideMarker && clusterWide !== undefined && clusterWide !== namespace)
      return refuse(clusterWide, clusterWideMarker, "all namespaces of this cluster");
    const holder = await ownMarker.holder();
    const scope = watchNamespace === undefined ? "all namespaces of this cluster" : `namespace ${watchNamespace}`;
    if (holder !== undefined && holder !== namespace) return refuse(holder, ownMarker, scope);
    refusal = undefined;
    if (!leading) return;
    const now = clock.monotonic();
    if (holder === undefined || renewedAt === undefined || now - renewedAt >= RENEW_MS) {
      await ownMarker.take(namespace);
      renewedAt = now;
    }
    accept();
  }

  async function attemptSafely(): Promise<void> {
    try {
      await attempt();
    } catch (error) {
      if (stopping.signal.aborted || isConflict(error) || isNotFound(error)) return;
      if (!isForbidden(error))
        return log.warn({ err: error }, `Lease ${ownMarker.namespace}/${INSTALLATION} not read or written`);
      // An administrator who writes the RBAC rules may have left out this Lease.
      if (!isOurs && leading)
        log.warn(
          { err: error },
          `Lease ${ownMarker.namespace}/${INSTALLATION} may not be written: a second installation would not be noticed; apply the RBAC rules of this version`,
        );
      if (leading) accept();
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await attemptSafely();
      await sleep(clock, POLL_MS, stopping.signal).catch(() => {});
    }
  }
  const running = run();

  return {
    refusal: () => refusal,
    lost: lost.promise,
    async acquire() {
      leading = true;
      // Retry conflicts: shards that start together write the same Lease.
      for (let tries = 0; tries < TRIES && !isOurs && refusal === undefined; tries++) await attemptSafely();
      await acquired.promise;
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
}

interface Marker {
  readonly namespace: string;
  /** The namespace of the installation that holds the Lease now; undefined when it is free. */
  holder(): Promise<string | undefined>;
  take(holder: string): Promise<void>;
}

function createMarker(client: KubeClient, clock: Clock, namespace: string): Marker {
  const record = leaseRecord(client, { namespace, name: INSTALLATION, deadlineMs: DEADLINE_MS });
  /** The Lease as last read, and when by our clock its spec was first seen in this state. */
  let seen: { lease: Lease; at: number } | undefined;
  const see = (lease: Lease) => {
    const isSame = seen && isDeepStrictEqual(seen.lease.spec, lease.spec);
    seen = { lease, at: seen && isSame ? seen.at : clock.monotonic() };
    return seen;
  };
  return {
    namespace,
    async holder() {
      try {
        const { lease, at } = see(await record.read());
        const { holderIdentity, leaseDurationSeconds = DURATION_MS / 1000 } = lease.spec ?? {};
        return clock.monotonic() - at < leaseDurationSeconds * 1000 ? holderIdentity || undefined : undefined;
      } catch (error) {
        if (!isNotFound(error)) throw error;
        seen = undefined;
        return undefined;
      }
    },
    async take(holder) {
      see(await record.write(seen?.lease, holding(seen?.lease.spec, holder, DURATION_MS, clock.now())));
    },
  };
}

function ignoreForbidden(error: unknown): undefined {
  if (!isForbidden(error)) throw error;
  return undefined;
}
