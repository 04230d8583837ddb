import { isDeepStrictEqual } from "node:util";
import type { Counters } from "../chance.ts";
import { type Direction, type Interval, intervalSchema, type Ledger } from "../records/billing.ts";
import type { DnsRecords } from "../records/dns.ts";
import type { PipelineRecords } from "../records/pipelines.ts";
import type { StreamingRecords } from "../records/streaming.ts";
import type { Documents, Table } from "../store/documents.ts";
import type { Resource } from "../store/resource.ts";
import type { Resources } from "../store/resources.ts";
import type { SimulatedClock } from "../time.ts";
import { tokenMeter } from "./meters.ts";
import { clusterSubject, pipelineSubject, resourceSubject, type Subject, zoneSubject } from "./subjects.ts";

const tokenSubject = "tokens";
const dayOf = (at: number) => Math.floor(at / 86_400_000);

/** The oldest ended intervals are deleted when there are more. */
const mostEnded = 20_000;

export interface LedgerParts {
  documents: Documents;
  counters: Counters;
  clock: SimulatedClock;
  scope: string;
  resources: Resources;
  pipelines: PipelineRecords;
  streaming: Pick<StreamingRecords, "clusters">;
  dns: DnsRecords;
}

/**
 * Records changes of usage in the transaction that makes them. It compares the current usage with the recorded one, so
 * it is also correct after a rollback and a restart.
 */
export function createLedger(parts: LedgerParts): Ledger {
  const { documents, counters, clock, scope, resources, pipelines, streaming, dns } = parts;
  const intervals = documents.table("billing", intervalSchema);
  /** Intervals that have not ended, by subject and meter. */
  const open = new Map<string, Map<string, Interval>>();
  const nextNumber = () => counters.next(`${scope}billing`);
  /** The changes of the running transaction, by key or id; the function returns the usage after it. */
  const touched = new Map<string, () => Subject | undefined>();
  /** The numbers of ended intervals, in the order in which they ended. */
  const ended = new Set<number>();

  intervals.watch((before, after) => {
    const subject = (after ?? before)?.subject ?? "";
    const meters = open.get(subject) ?? new Map<string, Interval>();
    if (before?.to === null) meters.delete(before.meterId);
    if (after?.to === null) meters.set(after.meterId, after);
    if (before !== undefined && after?.to !== before.to) ended.delete(before.n);
    if (after !== undefined && after.to !== null) ended.add(after.n);
    if (meters.size === 0) open.delete(subject);
    else open.set(subject, meters);
  });

  resources.watch((before, after) => {
    const { key } = after ?? before ?? { key: "" };
    touched.set(key, () => (after === undefined ? undefined : resourceSubject(after, resources)));
    // The usage of a NIC also depends on its LAN.
    if (after?.type === "lan") for (const nic of resources.referrers(key, "nic")) touch(nic);
  });
  const touch = (resource: Resource) => touched.set(resource.key, () => resourceSubject(resource, resources));
  const watchRows = <T extends { id: string }>(
    table: { watch(listener: (before: T | undefined, after: T | undefined) => void): void },
    subjectOf: (row: T) => Subject,
  ) =>
    table.watch((before, after) =>
      touched.set((after ?? before)?.id ?? "", () => (after === undefined ? undefined : subjectOf(after))),
    );
  watchRows(pipelines.pipelines, pipelineSubject);
  watchRows(streaming.clusters, clusterSubject);
  watchRows(dns.zones, zoneSubject);

  /** Ends the intervals whose amount has changed and begins new ones. */
  function reconcile(key: string, subject: Subject | undefined): void {
    const recorded = open.get(key) ?? new Map<string, Interval>();
    if (recorded.size === 0 && subject === undefined) return;
    const now = clock.now();
    const current = new Map(subject?.lines);
    const since = recorded.size === 0 ? Math.min(subject?.createdAt ?? now, now) : now;
    for (const interval of [...recorded.values()]) {
      const same = current.get(interval.meterId) === interval.amount && isDeepStrictEqual(interval.ips, subject?.ips);
      if (same) current.delete(interval.meterId);
      else intervals.put(String(interval.n), { ...interval, to: now });
    }
    if (subject === undefined) return;
    const { lines: _, createdAt: __, ...about } = subject;
    for (const [meterId, amount] of current) {
      const n = nextNumber();
      intervals.put(String(n), { ...about, n, subject: key, meterId, amount, from: since, to: null });
    }
    prune();
  }

  function prune(): void {
    for (const n of ended) {
      if (ended.size <= mostEnded) return;
      intervals.delete(String(n));
    }
  }

  documents.beforeCommit(() => {
    for (const [key, subjectOf] of touched) reconcile(key, subjectOf());
    touched.clear();
  });

  const countTokens = createTokenCounter(intervals, clock, nextNumber);
  return {
    intervals: () => intervals.values(),
    tokens(modelId, counts) {
      for (const direction of ["input", "output"] as const) countTokens(modelId, direction, counts[direction]);
      prune();
    },
  };
}

/** Counts the tokens of models, with one interval for each meter and day. */
function createTokenCounter(intervals: Table<Interval>, clock: SimulatedClock, nextNumber: () => number) {
  const days = new Map<string, number>();
  intervals.watch((before, after) => {
    const key = (row: Interval | undefined) => `${row?.meterId} ${dayOf(row?.from ?? 0)}`;
    if (before?.subject === tokenSubject) days.delete(key(before));
    if (after?.subject === tokenSubject) days.set(key(after), after.n);
  });
  return (modelId: string, direction: Direction, count: number): void => {
    const meterId = tokenMeter(modelId, direction);
    if (meterId === undefined || count === 0) return;
    const now = clock.now();
    const known = intervals.get(String(days.get(`${meterId} ${dayOf(now)}`)));
    const n = known?.n ?? nextNumber();
    const about = {
      subject: tokenSubject,
      id: modelId,
      name: modelId,
      serverId: null,
      datacenter: null,
      region: "",
      ips: [],
    };
    const row = known ?? { ...about, n, meterId, amount: 0, from: now, to: now };
    intervals.put(String(n), { ...row, amount: row.amount + count, to: now + 1 });
  };
}
