import { randomBytes } from "node:crypto";
import { getHeapStatistics } from "node:v8";
import { allowedEndpoints } from "../addresses/allowed-endpoints.ts";
import { createMemoryBudget } from "../answers/memory-budget.ts";
import { createPacer, type Pacer } from "../pace/pacer.ts";
import { sharePacers } from "../pace/shared-pacers.ts";
import type { TransportOptions } from "./call.ts";
import { type Connection, type ConnectionEvents, createConnection } from "./connection.ts";
import type { Credentials } from "./credentials.ts";
import { createDispatchers } from "./dispatchers.ts";
import { skewOf } from "./platform-time.ts";

export type { Priority } from "../pace/pacer.ts";
export type { CallObserver, Log, PlatformCall, Reply, TransportOptions } from "./call.ts";
export type { Connection } from "./connection.ts";
export type { Credentials, Identity } from "./credentials.ts";

export interface Transport {
  /** Opens the connection of an Account. All connections to a host share sockets. */
  connect(id: string, credentials?: Credentials, events?: ConnectionEvents): Connection;
  /** The rate limiters of all credentials and hosts in use, with the Accounts that share them, for the metrics. */
  pacers(): readonly { accounts: readonly string[]; pacer: Pick<Pacer, "rate" | "isClosed" | "waiting"> }[];
  /** How far the platform's clock is ahead of ours, for each connection with a `doubted` callback, for the metrics. */
  skews(): readonly { account: string; aheadMs: number }[];
  /** Aborts all calls of all connections, running and waiting. */
  close(): Promise<void>;
}

/** Calls to the platform: keep-alive sockets per host, pacing per credential and host, deadlines, typed errors. */
export function createTransport(options: TransportOptions): Transport {
  const allowed = options.allowEndpoints && allowedEndpoints(options.allowEndpoints);
  const dispatchers = createDispatchers(options, allowed);
  const prefix = randomBytes(4).toString("hex");
  let serial = 0;
  const closing = new AbortController();
  const { clock, random } = options;
  const pacersOf = sharePacers((most) => createPacer({ clock, most, mostConcurrent: 64, ...(random && { random }) }));
  // An answer takes up to four times its counted size in the heap.
  const memory = createMemoryBudget(options.memoryBytes ?? getHeapStatistics().heap_size_limit / 4);
  const timed = new Map<string, Connection>();
  const nextRequestId = () => `${prefix}-${++serial}`;
  return {
    connect(id, credentials, events) {
      const connection = createConnection(id, credentials, {
        ...options,
        ...events,
        closed(account) {
          timed.delete(account);
          options.closed?.(account);
        },
        dispatcherTo: dispatchers.to,
        allowed,
        nextRequestId,
        memory,
        pacersOf,
        closing: closing.signal,
      });
      if (events?.doubted) timed.set(id, connection);
      return connection;
    },
    skews: () => [...timed].map(([account, connection]) => ({ account, aheadMs: skewOf(connection) })),
    pacers: () => pacersOf.all(),
    async close() {
      closing.abort(new Error("the transport was closed"));
      await dispatchers.close();
    },
  };
}
