import type { ObjectObserver } from "../controllers/manager-options.ts";
import type { ClientObserver } from "../kube/client/transport.ts";
import type { Queue, QueueObserver } from "../kube/queue/queue.ts";
import type { ReconcileObserver } from "../kube/queue/work.ts";
import type { CallObserver } from "../platform/calls/call.ts";
import type { Transport } from "../platform/calls/transport.ts";
import type { Clock } from "../runtime/clock.ts";
import { yieldIfDue } from "../runtime/time-slices.ts";
import { createRegistry } from "../server/registry.ts";
import { createDefinitions, type Described } from "./metrics/definitions.ts";
import { createObjectMetrics, objectGauges } from "./metrics/objects.ts";
import { createPlatformMetrics } from "./metrics/platform.ts";
import { createWorkMetrics } from "./metrics/work.ts";

export type { Described };

/**
 * The operator's metrics. A metric that controller-runtime has too uses the same name and labels, so that dashboards and alerts
 * made for other operators work here.
 */
export interface Metrics {
  /** All metrics as text, in chunks, yielding to other work between them. */
  scrape(): AsyncGenerator<string>;
  contentType: string;
  /** Name, type, labels and help of all metrics, except those of Node itself. */
  described: readonly Described[];
  reconcile: ReconcileObserver;
  object: ObjectObserver;
  /** Drift of an object of this kind was corrected. */
  drift(kind: string): void;
  queue: QueueObserver;
  kube: ClientObserver;
  platform: CallObserver;
  /** An Account is gone: drops the series that only its calls produced. */
  closed(account: string): void;
  /** Only the leader exports object metrics, so no object is counted twice. */
  leading(held: boolean): void;
  /** The number of namespaces of each shard that is not running. */
  unserved(shards: ReadonlyMap<string, number>): void;
  /** Whether the Secret with the signing key is missing. */
  signingKey(missing: boolean): void;
  /** Sources that are read at each scrape. */
  watch(parts: {
    queue: Pick<Queue, "inWork" | "oldest">;
    workers: number;
    transport: Pick<Transport, "pacers" | "skews">;
  }): void;
}

const NAME = "mooring";
const TO_READY = [1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];
/** Chunk size in characters, large enough for one socket write. */
const PIECE = 65_536;
/** Namespace owners choose this label, so the number of its series is limited. */
const MOST_SHARDS = 100;

export function createMetrics(options: { clock: Clock; mostObjects: number; shard?: string | undefined }): Metrics {
  const { clock, mostObjects, shard = "" } = options;
  const registry = createRegistry();
  const definitions = createDefinitions(registry);
  const { described, counter, gauge, histogram } = definitions;
  described.push(...objectGauges.map((each) => ({ ...each, type: "gauge" as const })));
  const toReady = histogram(
    "mooring_apply_to_ready_seconds",
    "Time from a creation or a change of spec until the object is Ready",
    ["kind"],
    TO_READY,
  );
  const drift = counter(
    "mooring_drift_corrected_total",
    "Times that a resource was changed outside Mooring and corrected; the Event DriftCorrected has the values",
    ["kind"],
  );
  const platform = createPlatformMetrics(definitions);
  const work = createWorkMetrics(definitions, NAME);
  const kubeCalls = counter("rest_client_requests_total", "Calls to the Kubernetes API", ["code", "method", "host"]);
  const leader = gauge(
    "leader_election_master_status",
    "1 while this process is the leader, of its shard if it has one",
    ["name", "shard"],
  );
  // Also set by a process that never led: queries find Mooring's processes by this metric.
  leader.set({ name: NAME, shard }, 0);
  const unserved = gauge(
    "mooring_unserved_namespaces",
    "Namespaces whose label names a shard that is not running; reported by the operator without --shard",
    ["shard"],
  );
  const keyMissing = gauge(
    "mooring_signing_key_missing",
    "1 while the Secret mooring-signing-key is missing and this process waits for it, or restores it",
    [],
  );
  keyMissing.set(0);
  let leads = false;
  const objects = createObjectMetrics({
    clock,
    most: mostObjects,
    becameReady: (kind, seconds) => toReady.observe({ kind }, seconds),
  });

  return {
    async *scrape() {
      yield await registry.metrics();
      yield* piecesOf(leads ? objects.lines() : [], clock);
    },
    contentType: registry.contentType,
    described,
    reconcile: work.reconcile,
    object: objects.observe,
    drift: (kind) => drift.inc({ kind }),
    queue: work.queue,
    kube: ({ method, host, status }) => kubeCalls.inc({ code: String(status), method, host }),
    platform: platform.call,
    closed: platform.closed,
    leading(held) {
      leads = held;
      if (held) objects.begin();
      leader.set({ name: NAME, shard }, held ? 1 : 0);
    },
    unserved(shards) {
      unserved.reset();
      for (const [name, count] of [...shards].slice(0, MOST_SHARDS)) unserved.set({ shard: name }, count);
    },
    signingKey: (missing) => keyMissing.set(missing ? 1 : 0),
    watch({ queue, workers, transport }) {
      work.watch(queue, workers);
      platform.watch(transport);
    },
  };
}

/** Lines as text in chunks, yielding to other work between them. */
async function* piecesOf(lines: Iterable<string>, clock: Clock): AsyncGenerator<string> {
  let piece = "";
  for (const line of lines) {
    piece += `${line}\n`;
    if (piece.length >= PIECE) {
      yield piece;
      piece = "";
    }
    const pause = yieldIfDue(clock);
    if (pause) await pause;
  }
  yield piece;
}
