import type { KubeClient } from "../../kube/client/transport.ts";
import type { Namespaces } from "../../kube/watch/namespaces.ts";
import type { EventRecorder } from "../../kube/write/events.ts";
import type { Catalogues } from "../../platform/products/catalogues.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { Memories } from "../state/memory.ts";
import type { Objects } from "../state/objects.ts";
import type { Publications } from "../state/published.ts";
import type { Shards } from "../state/shards.ts";
import type { Signatures } from "../state/signatures.ts";
import type { Spending } from "../state/spending.ts";
import type { Author } from "../status/author.ts";
import type { Collections } from "./resource/collections.ts";

/** Timeouts and intervals of the engine, in milliseconds. */
export interface Settings {
  /** The deadline of a creation: nothing of it is sent later. */
  createDeadlineMs: number;
  /** How long a write may take to arrive, and its effect to become visible, after the deadline. */
  settleMs: number;
  /** A resource that is missing for this long is gone, if no log records its deletion. */
  missingMs: number;
  /** The first backoff after a refusal or failure. It doubles, up to 32 times itself. */
  retryMs: number;
  /** How long an object is up to date before the id replaces the intent in its annotations. */
  annotateAfterMs: number;
  /** An object younger than this does not report that it waits for another. */
  graceMs: number;
  /** Interval between two checks of an Account, and between two lists of a collection at rest. */
  resyncMs: number;
  /** Recheck interval of an object without changes, ±20 %. */
  recheckMs: number;
}

/** How long an accepted write may stay invisible: twice as long as one without an answer. */
export const believedFor = ({ createDeadlineMs, settleMs }: Settings): number => 2 * (createDeadlineMs + settleMs);

/** The timeout of a read that a step waits for. */
export const readLimit = (): AbortSignal => AbortSignal.timeout(30_000);

export type Log = Record<"debug" | "info" | "warn" | "error", (fields: object, message: string) => void>;

/** The time left until the deadline of a write that began at `since`. Without any left, it is not sent. */
export const deadlineFrom = ({ clock, settings }: Pick<Deps, "clock" | "settings">, since: number): number =>
  since + settings.createDeadlineMs - clock.monotonic();

/** How long a replaced key works on: workloads see a changed Secret only minutes later. */
export const overlapOf = ({ settings }: Pick<Deps, "settings">): number => settings.resyncMs + 300_000;

/** The dependencies of every part of the engine. Tests replace each of them. */
export interface Deps {
  clock: Clock;
  log: Log;
  client: KubeClient;
  events: EventRecorder;
  objects: Objects;
  /** Signs what the operator writes. */
  seal: Signatures;
  accounts: Accounts;
  collections: Collections;
  memories: Memories;
  shards: Shards;
  namespaces: Pick<Namespaces, "isTerminating">;
  published: Publications;
  catalogues: Catalogues;
  spending: Spending;
  settings: Settings;
  /** Throws when this process may not write any more. Called before every write to the platform. */
  guard: () => void;
  /** This process, for the records of what it begins. */
  self: Author;
  /** A unique id for each creation. */
  nonce: () => string;
  /** Checks an Account at once, because its credential was refused. */
  suspect: (account: string) => void;
  /** Counts a correction of drift for the metrics. */
  corrected: (kind: string) => void;
  /** Cleanup that must end before the process does, and before the Account that it uses is gone. */
  runCleanup: (cleanup: Promise<void>, account?: string) => void;
}

/** Whether this process may still write. */
export function leads({ guard }: Pick<Deps, "guard">): boolean {
  try {
    guard();
    return true;
  } catch {
    return false;
  }
}

/** The backoff after this many failed attempts: it doubles, up to 32 times the first one. */
export const backoffMs = ({ retryMs }: Pick<Settings, "retryMs">, attempts: number): number =>
  retryMs * 2 ** Math.min(attempts, 5);
