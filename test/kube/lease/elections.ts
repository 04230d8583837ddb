import { afterEach, beforeEach, expect } from "vitest";
import { KubeError } from "../../../src/kube/client/errors.ts";
import type { KubeCall, KubeClient } from "../../../src/kube/client/transport.ts";
import { type Election, type ElectionOptions, elect } from "../../../src/kube/lease/lease.ts";
import type { Lease } from "../../../src/kube/lease/lease-record.ts";
import { type FakeClock, fakeClock } from "../../fake-clock.ts";

const PATH = "/apis/coordination.k8s.io/v1/namespaces/system/leases/mooring";

export const refuse = (status: number, reason: string) => new KubeError({ status, reason, message: reason });

/** Ends with the call's signal, like a connection to a dead host. */
export const never = ({ signal }: KubeCall) =>
  new Promise<void>((_, reject) => signal?.addEventListener("abort", () => reject(refuse(0, "Aborted"))));

/** The value after it was sent as JSON. */
export function copy<T>(value: unknown): T {
  return JSON.parse(JSON.stringify(value));
}

export function stored(body: Lease | undefined, version: number): Lease {
  if (!body) throw refuse(400, "BadRequest");
  return { ...body, metadata: { ...body.metadata, resourceVersion: String(version) } };
}

/** The state of a test's API server, and the fate of calls to it. */
interface Cluster {
  clock: FakeClock;
  lease: Lease | undefined;
  calls: string[];
  /** A fault of the API server for a call: it fails, or never answers. */
  trouble: ((call: KubeCall) => Promise<void> | undefined) | undefined;
}

const fresh = (): Cluster => ({ clock: fakeClock(), lease: undefined, calls: [], trouble: undefined });

/** For each test of the file: an API server with one Lease, and candidates that release at the end. */
export function electionsForFile() {
  const cluster = fresh();
  let elections: Election[] = [];

  beforeEach(() => {
    Object.assign(cluster, fresh());
    elections = [];
  });

  afterEach(async () => {
    cluster.trouble = undefined;
    await Promise.all(elections.map((election) => election.release()));
    expect(cluster.clock.pending, "timers left behind").toBe(0);
  });

  /** An API server with one Lease and its preconditions. */
  function apiserver(who: string): KubeClient {
    async function answer(call: KubeCall): Promise<unknown> {
      if (call.signal?.aborted) throw refuse(0, "Aborted");
      cluster.calls.push(`${who} ${call.method}`);
      await cluster.trouble?.(call);
      const body = call.body === undefined ? undefined : copy<Lease>(call.body);
      switch (call.method) {
        case "GET":
          if (!cluster.lease || call.path !== PATH) throw refuse(404, "NotFound");
          return cluster.lease;
        case "POST":
          if (cluster.lease) throw refuse(409, "AlreadyExists");
          cluster.lease = stored(body, 1);
          return cluster.lease;
        case "PUT":
          if (!cluster.lease) throw refuse(404, "NotFound");
          if (body?.metadata.resourceVersion !== cluster.lease.metadata.resourceVersion) throw refuse(409, "Conflict");
          cluster.lease = stored(body, Number(cluster.lease.metadata.resourceVersion) + 1);
          return cluster.lease;
        default:
          throw refuse(405, "MethodNotAllowed");
      }
    }
    return {
      server: "",
      request: async <T>(call: KubeCall) => copy<T>(await answer(call)),
      stream: () => Promise.reject(new Error("nothing is streamed here")),
      close: async () => {},
    };
  }

  function candidate(identity: string, options: Partial<ElectionOptions> = {}): Election {
    const election = elect({
      client: apiserver(identity),
      namespace: "system",
      name: "mooring",
      identity,
      clock: cluster.clock,
      random: () => 0,
      ...options,
    });
    elections.push(election);
    return election;
  }

  const hasSettled = async (promise: Promise<void>) =>
    Promise.race([promise.then(() => true), cluster.clock.advance(0).then(() => false)]);

  return { cluster, candidate, hasSettled };
}
