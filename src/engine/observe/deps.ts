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

/** Times that decide how patient the engine is, in milliseconds. */
export interface Settings {
  /** A creation is given up as unanswered after this; no byte of it leaves later. */
  createDeadlineMs: number;
  /** How long a write may be on its way, and stay invisible, once its process sends no byte of it any more. */
  settleMs: number;
  /** A resource that the platform does not have for so long, and whose deletion no log could tell of, is gone. */
  missingMs: number;
  /** First wait after a refusal or failure; it doubles up to thirty-two times itself. */
  retryMs: number;
  /** Rest before the intent annotation gives way to the id. */
  annotateAfterMs: number;
  /** An object younger than this is not told that it waits for another. */
  graceMs: number;
  /** Between two checks of an Account, and two lists of a collection, at rest. */
  resyncMs: number;
  /** Recheck interval of an object that nothing has happened to, ±20 %. */
  recheckMs: number;
}

/** What was accepted is believed in for so long, though it cannot be seen: twice as long as what got no answer. */
export const believedFor = ({ createDeadlineMs, settleMs }: Settings): number => 2 * (createDeadlineMs + settleMs);

/** A read that a step waits for is given up after this. */
export const readLimit = (): AbortSignal => AbortSignal.timeout(30_000);

export type Log = Record<"debug" | "info" | "warn" | "error", (fields: object, message: string) => void>;

/** The time left until the deadline of a write that began at `since`. Without any left, it is not sent. */
export const deadlineFrom = ({ clock, settings }: Pick<Deps, "clock" | "settings">, since: number): number =>
  since + settings.createDeadlineMs - clock.monotonic();

/** Workloads get to see a changed Secret within minutes: so long a key that was replaced works on. */
export const overlapOf = ({ settings }: Pick<Deps, "settings">): number => settings.resyncMs + 300_000;

/** What every part of the engine works with; handed in, so that tests can hold each of them. */
export interface Deps {
  clock: Clock;
  log: Log;
  client: KubeClient;
  events: EventRecorder;
  objects: Objects;
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
  /** This process: stands in whatever it begins. */
  self: Author;
  /** A word that no other creation uses. */
  nonce: () => string;
  /** Have an Account checked at once: a call of its credential was refused. */
  suspect: (account: string) => void;
  /** Drift of an object of this kind was put right: for the metrics. */
  corrected: (kind: string) => void;
  /** Work that must end before the process does, and before the Account goes that it is done with. */
  runCleanup: (debt: Promise<void>, account?: string) => void;
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

/** The pause after so many attempts in vain: it doubles, up to 32 times the first one. */
export const backoffMs = ({ retryMs }: Pick<Settings, "retryMs">, attempts: number): number =>
  retryMs * 2 ** Math.min(attempts, 5);
