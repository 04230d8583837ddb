import type { PendingRequest } from "../../src/engine/look/view.ts";
import type { Intent } from "../../src/engine/objects/intent.ts";
import type { Failure } from "../../src/engine/objects/memory.ts";

/** What etcd keeps of one object. */
export interface Stored {
  name: string;
  body: string;
  /** Grows with every write, whoever writes. */
  version: number;
  deleting: boolean;
  gone: boolean;
  finalizer: boolean;
  intent: Intent | undefined;
  nonce: string | undefined;
  id: string | undefined;
  request: { action: "create" | "delete"; since: number } | undefined;
  ready: boolean;
}

export const stored = (name: string, body: string): Stored => ({
  name,
  body,
  version: 1,
  deleting: false,
  gone: false,
  finalizer: false,
  intent: undefined,
  nonce: undefined,
  id: undefined,
  request: undefined,
  ready: false,
});

export function write(object: Stored, changes: Partial<Stored>): void {
  Object.assign(object, changes);
  object.version++;
}

/** What a crash takes away. */
export interface ModelMemory {
  search?: { nonce: string; lookedAt: number; endedAt: number; pending: boolean; ids: string[] } | undefined;
  unsent?: string | undefined;
  unclaimed?: { nonce: string; id: string; since: number } | undefined;
  seen?: { nonce: string; at: number } | undefined;
  failure?: Failure | undefined;
  absence?: { since: number; last: number } | undefined;
  askedAt?: number | undefined;
  outcome?: PendingRequest["outcome"] | undefined;
  posting?: boolean;
}

/** What the operator's last list has shown. */
export interface Snapshot {
  asOf: number;
  items: Map<string, { busy: boolean }>;
}

export const openIntent = ({ intent, nonce }: Stored): Intent | undefined =>
  intent && intent.nonce !== nonce ? intent : undefined;

export const claimed = (object: Stored): string | undefined => (openIntent(object) ? undefined : object.id);

/** Objects that still exist and claim this id. */
export const claimants = (objects: readonly Stored[], id: string): Stored[] =>
  objects.filter((each) => !each.gone && claimed(each) === id);
