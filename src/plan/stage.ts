import { type AccountHandle, createAccounts } from "../engine/accounts/accounts.ts";
import { decide } from "../engine/decide/decide.ts";
import type { Decision } from "../engine/decide/decision.ts";
import type { Deps, Settings } from "../engine/observe/deps.ts";
import { observe } from "../engine/observe/observe.ts";
import { createCollections } from "../engine/observe/resource/collections.ts";
import type { Context, View } from "../engine/observe/view.ts";
import { createMemories } from "../engine/state/memory.ts";
import { keyTo, type ObjectKey } from "../engine/state/object.ts";
import { createObjects, type Objects } from "../engine/state/objects.ts";
import { undivided } from "../engine/state/shards.ts";
import type { Signatures } from "../engine/state/signatures.ts";
import type { Kind, ResourceKind } from "../kinds/kind.ts";
import type { KubeObject } from "../kube/resource.ts";
import type { Collection, Item } from "../platform/collections/collection.ts";
import { createCatalogues } from "../platform/products/catalogues.ts";
import type { Clock } from "../runtime/clock.ts";

/** A plan is made at one moment: no step waits. */
const SETTINGS: Settings = {
  createDeadlineMs: 30_000,
  settleMs: 90_000,
  missingMs: 600_000,
  retryMs: 1_000,
  annotateAfterMs: 30_000,
  graceMs: 0,
  resyncMs: 300_000,
  recheckMs: 600_000,
};

/** Only the operator has the signing key, so a plan trusts status without a check. */
const unsigned: Signatures = {
  judge: () => {},
  believes: () => false,
  signed: (_kind, _object, status) => status,
  mark: (_kind, _object, _annotation, words) => JSON.stringify(words),
  read: () => ({ words: {}, verdict: "absent", current: false }),
};

const onlyReads = (): never => {
  throw new Error("a plan writes nothing");
};

export interface Decided {
  context: Context;
  decision: Decision;
}

/** Runs the operator's decisions on a set of objects and Accounts. Reads and never writes. */
export interface Stage extends AsyncDisposable {
  readonly objects: Objects;
  put(object: KubeObject): void;
  account(handle: AccountHandle): void;
  /** The Account of an object, whether usable or not. */
  accountOf(kind: ResourceKind, object: KubeObject): string | undefined;
  /** Starts to list the collections of an object. */
  begin(kind: ResourceKind, object: KubeObject): void;
  /**
   * An existing resource, read from the platform by its id, or without one the permanent resource that spec means;
   * undefined if it is not where spec says.
   */
  find(context: Context, id: string | undefined): Promise<Item | undefined>;
  /** The operator's decision with its view, after the platform has been read. */
  decide(key: ObjectKey, kind: ResourceKind, object: KubeObject): Promise<Decided>;
}

export interface StageOptions {
  kinds: readonly Kind[];
  clock: Clock;
  signal: AbortSignal;
  /** Labels of a namespace, as far as the caller may read them. */
  labelsOf: (namespace: string) => Readonly<Record<string, string>>;
}

export function createStage({ kinds, clock, signal, labelsOf }: StageOptions): Stage {
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const fail = (error: unknown) => {
    throw error;
  };
  const objects = createObjects(kinds, unsigned, fail, labelsOf);
  const accounts = createAccounts(objects, { labelsOf });
  const collections = createCollections({
    clock,
    log,
    restMs: SETTINGS.resyncMs,
    busyMs: 5_000,
    wake: () => {},
  });
  const deps: Deps = {
    clock,
    log,
    client: { server: "", request: onlyReads, stream: onlyReads, close: async () => {} },
    events: { record: onlyReads, flush: async () => {}, close: async () => {} },
    objects,
    seal: unsigned,
    accounts,
    collections,
    memories: createMemories(clock),
    shards: undivided,
    namespaces: { isTerminating: () => false },
    published: {
      find: () => ({ known: true, note: undefined, secret: undefined, readAt: undefined }),
      read: async () => undefined,
      outputs: () => ({ known: true, found: [] }),
      put: onlyReads,
      sync: async () => {},
      close: async () => {},
    },
    catalogues: createCatalogues(clock),
    spending: { of: () => undefined, sync: async () => {}, close: async () => {} },
    settings: SETTINGS,
    guard: onlyReads,
    self: { pod: "plan", process: "plan", deadlineMs: SETTINGS.createDeadlineMs },
    nonce: onlyReads,
    suspect: () => {},
    runCleanup: () => {},
    corrected: () => {},
  };

  let versions = 0;
  const isRead = ({ listedAt, problem }: Collection) => listedAt !== undefined || problem !== undefined;
  const untilRead = (collection: Collection) =>
    new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => {
        stop();
        signal.removeEventListener("abort", abort);
        settle();
      };
      const abort = () => end(() => reject(signal.reason));
      const stop = collection.subscribe(() => {
        if (isRead(collection)) end(resolve);
      });
      signal.addEventListener("abort", abort, { once: true });
    });

  return {
    objects,
    put(object) {
      // Version numbers of the plan: a later object is newer.
      const metadata = { ...object.metadata, resourceVersion: String(++versions) };
      objects.store(object.kind).put({ ...object, metadata });
    },
    account: accounts.put,
    accountOf: (kind, object) => observe(deps, keyTo(kind, object), kind, object).view.account.key,
    begin: (kind, object) => void observe(deps, keyTo(kind, object), kind, object),
    async find({ key, kind, account, inputs, desired }, id) {
      if (!account || !inputs) return undefined;
      const shared = collections.join(key, { account, kind, parents: inputs.parents });
      if (id === undefined || kind.resource.identity.permanent) {
        const isNamed = (item: Item) => (id === undefined ? desired?.isMeant(item.raw) : item.id === id);
        return (await shared.source.list(signal, "people")).find(isNamed);
      }
      if (!isRead(shared.collection)) await untilRead(shared.collection);
      return shared.collection.read(shared.identify({ id })).item ?? (await shared.source.get?.(id, signal));
    },
    async decide(key, kind, object) {
      signal.throwIfAborted();
      // All objects of a plan are changed or deleted at once, and long ago.
      deps.memories.of(key).desired = { what: "plan", at: Number.NEGATIVE_INFINITY };
      const { shared } = observe(deps, key, kind, object);
      if (shared && !isRead(shared.collection)) await untilRead(shared.collection);
      const context = observe(deps, key, kind, object);
      return { context, decision: decide(settled(context.view)) };
    },
    async [Symbol.asyncDispose]() {
      collections.close();
    },
  };
}

/**
 * The view after all waiting: readings are fresh and pauses are over. Work for workloads (Secrets, outputs, due keys)
 * is not part of a plan.
 */
export function settled(view: View): View {
  const { spec, resource, secrets, times } = view;
  return {
    ...view,
    spec: { ...spec, unchecked: false },
    resource: {
      ...resource,
      hasFinalizer: true,
      recorded: resource.intent !== undefined,
      failure: undefined,
      accepted: undefined,
      unlisted: false,
    },
    secrets: {
      ...secrets,
      secret: undefined,
      repair: undefined,
      keyDueAt: undefined,
      renewal: undefined,
      previous: undefined,
      output: undefined,
    },
    times: { ...times, desiredSince: Number.NEGATIVE_INFINITY, graceUntil: Number.NEGATIVE_INFINITY },
  };
}
