import { type Authority, clientCertificate, newAuthority, type Validity } from "../certificates.ts";
import type { Credentials } from "../records/streaming.ts";
import type { World } from "../world.ts";

/** The name of the one user that every cluster has. */
export const userName = "admin";

const oneDay = 86_400_000;
/** Certificates are valid from a little earlier, for clocks that are behind. */
const tolerance = 45 * 60_000;
const userDays = 365;
/** Longer than anybody moves the clock. */
const authorityDays = 100 * 365;

/**
 * Certificates are issued in the platform's time, but brokers and clients check them by real clocks. If the platform's
 * clock is ahead, they are valid from the real time on. They expire in the platform's time, so a real clock may accept
 * one that has expired for the platform.
 */
function validity({ clock, machine }: World, days: number): Validity {
  const begin = clock.now() - tolerance;
  const real = machine.now();
  return { notBefore: new Date(begin < real ? begin : real - tolerance), notAfter: new Date(begin + days * oneDay) };
}

/** As long as that of the authority, because the certificates of brokers are not renewed. */
export const brokerValidity = (world: World) => validity(world, authorityDays);

/** The authority of a cluster, made when it is first needed; undefined when the cluster is deleted. */
export async function authorityOf(world: World, clusterId: string): Promise<Authority | undefined> {
  const { clusters, authorities } = world.streaming;
  const kept = authorities.get(clusterId);
  if (kept !== undefined) return kept;
  const made = await newAuthority(`Event streaming ${clusterId}`, validity(world, authorityDays));
  return world.documents.transaction(() => {
    if (clusters.get(clusterId) === undefined) return undefined;
    // Another call may have made one in between: the first one counts.
    const first = authorities.get(clusterId) ?? made;
    authorities.put(clusterId, first);
    return first;
  });
}

/**
 * Makes sure that the user of a cluster has a certificate. It is valid for 365 days. After half of them the next read
 * gets a new one; both stay valid until they expire.
 */
export async function ensureCredentials(world: World, clusterId: string): Promise<void> {
  const { credentials } = world.streaming;
  const isFresh = () => {
    const present = credentials.get(clusterId);
    return present !== undefined && world.clock.now() < (present.issuedAt + present.expiresAt) / 2;
  };
  if (isFresh()) return;
  const authority = await authorityOf(world, clusterId);
  if (authority === undefined) return;
  const issuedAt = world.clock.now();
  const span = validity(world, userDays);
  const issued: Credentials = {
    ...(await clientCertificate(authority, userName, span)),
    issuedAt,
    expiresAt: span.notAfter.getTime(),
  };
  world.documents.transaction(() => {
    if (world.streaming.clusters.get(clusterId) !== undefined && !isFresh()) credentials.put(clusterId, issued);
  });
}
