import { randomBytes } from "node:crypto";
import { getCACertificates } from "node:tls";
import { Agent, Pool } from "undici";
import { allowedEndpoints, guardedLookup } from "./allowed-endpoints.ts";
import type { TransportOptions } from "./call.ts";
import { type Connection, createConnection } from "./connection.ts";
import type { Credentials } from "./credentials.ts";
import { createPacer, type Pacer } from "./pacer.ts";
import { sharePacers } from "./shared-pacers.ts";

export type { CallObserver, Log, PlatformCall, Reply, TransportOptions } from "./call.ts";
export type { Connection } from "./connection.ts";
export type { Credentials, Identity } from "./credentials.ts";
export type { Priority } from "./pacer.ts";

export interface Transport {
  /** A connection of its own per Account; sockets are shared by all connections to a host. */
  connect(id: string, credentials?: Credentials): Connection;
  /** Those of all credentials and hosts in use, for the metrics. */
  pacers(): readonly Pick<Pacer, "rate" | "isClosed" | "waiting">[];
  /** Aborts all that is under way or waiting, on any connection. */
  close(): Promise<void>;
}

/** The way to the platform: keep-alive sockets per host, pacing per credential and host, deadlines, typed errors. */
export function createTransport(options: TransportOptions): Transport {
  const { ca, lookup } = options;
  const allowed = options.allowEndpoints && allowedEndpoints(options.allowEndpoints);
  const agent = new Agent({
    factory: (origin, pool) => {
      const guarded = allowed ? guardedLookup(allowed, new URL(origin), lookup) : lookup;
      const trusted = ca === undefined ? undefined : [...getCACertificates("default"), ca];
      return new Pool(origin, {
        ...pool,
        connect: { ...(trusted && { ca: trusted }), ...(guarded && { lookup: guarded }) },
      });
    },
    allowH2: false,
    connections: 64,
    connectTimeout: 10_000,
    // The deadline of the call covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const prefix = randomBytes(4).toString("hex");
  let serial = 0;
  const closing = new AbortController();
  const { clock, random } = options;
  const pacersOf = sharePacers(() => createPacer({ clock, ...(random && { random }) }));
  const nextRequestId = () => `${prefix}-${++serial}`;
  return {
    connect: (id, credentials) =>
      createConnection(id, credentials, {
        ...options,
        agent,
        allowed,
        nextRequestId,
        pacersOf,
        closing: closing.signal,
      }),
    pacers: () => pacersOf.all(),
    async close() {
      closing.abort(new Error("the transport was closed"));
      // Not close(): that would wait for answers which nobody reads any more.
      await agent.destroy();
    },
  };
}
