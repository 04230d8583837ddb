import { type AccountHandle, objectOf, urlOf } from "../engine/accounts/accounts.ts";
import { outOfReach } from "../engine/observe/account.ts";
import { backoffMs, type Deps, leads } from "../engine/observe/deps.ts";
import { isPaused } from "../engine/state/annotations.ts";
import type { Claim } from "../engine/state/intent.ts";
import { claimOf, type Found, type ObjectKey, observes, targetOf } from "../engine/state/object.ts";
import { readStatus } from "../engine/status/status.ts";
import type { Kind } from "../kinds/kind.ts";
import type { KubeObject } from "../kube/resource.ts";
import type { Change } from "../kube/watch/store.ts";
import { PlatformError, Retry } from "../platform/answers/errors.ts";
import { clusterLabel, labelHolder, readClusterLabels, unlabelled } from "../platform/products/labels.ts";
import { inSlices } from "../runtime/time-slices.ts";

/** A resource that the cluster labels. */
export interface Labelled {
  /** Type and id, as in the platform's list of labels. */
  holder: string;
  /** The path of its labels. */
  path: string;
  claim: Claim;
}

/** The label that an object is to have on its resource: none on what it has adopted or observes, and none while it is changing. */
export function labelOf({ kind, object }: Found): Labelled | undefined {
  const { place, names } = kind.resource ?? {};
  const claim = place?.labelled && claimOf(object);
  const { adoptedAt, notBefore, onlyObserved } = claim || {};
  const isCreated = adoptedAt === undefined && notBefore === undefined && !onlyObserved;
  if (!claim || !isCreated || observes(object) || isPaused(object)) return undefined;
  const { request } = readStatus(object);
  if (object.metadata.deletionTimestamp !== undefined || (request && request.status !== "FAILED")) return undefined;
  const path = `${place.collection(claim.parents)}/${encodeURIComponent(claim.id)}/labels`;
  return { holder: labelHolder(names?.type ?? "", claim.id), path, claim };
}

type LabelDeps = Pick<Deps, "clock" | "log" | "objects" | "accounts" | "shards" | "settings" | "guard">;
type Wanted = Labelled & { key: ObjectKey };

/** No worker waits for these calls. */
const PATIENCE_MS = 60_000;

/** The labels that objects want, and those that the platform has. */
function labelWriter(deps: LabelDeps, kinds: readonly Kind[], random: () => number) {
  const { clock, objects, accounts, shards, guard, settings } = deps;
  function wantedBy(key: ObjectKey, account: string): Labelled | undefined {
    const { kind } = targetOf(key);
    const isAsked = kinds.some((each) => each.kind === kind) && shards.serves(key);
    const found = isAsked ? objects.find(key) : undefined;
    const wanted = found && labelOf(found);
    return wanted?.claim.account === account && objects.owned(key)?.id === wanted.claim.id ? wanted : undefined;
  }
  /** The Account, while it works with the user, the contract and the address of the claim. */
  function reach(account: string, { claim }: Labelled): AccountHandle | undefined {
    const handle = accounts.get(account);
    return handle && !handle.obstacle && !outOfReach(handle, "core", claim) ? handle : undefined;
  }
  return {
    reach,
    async wantedWith(account: string): Promise<Wanted[]> {
      const all: Wanted[] = [];
      await inSlices(clock, objects.users(account), (key) => {
        const wanted = wantedBy(key, account);
        if (wanted) all.push({ key, ...wanted });
      });
      return all;
    },
    /** Reads the labels once per resync, and writes the missing ones. The first refusal ends it. */
    async write(account: string, wanted: readonly Wanted[], cluster: string, state: State, signal: AbortSignal) {
      const within = wanted.filter((each) => reach(account, each));
      const handle = within[0] && reach(account, within[0]);
      if (!handle) return;
      const options = { priority: "background", patienceMs: PATIENCE_MS, signal } as const;
      if (clock.monotonic() >= state.listAt) {
        const found = await readClusterLabels(handle.connection, handle.endpoint("api"), options);
        state.labelled = new Set(within.flatMap(({ holder }) => (found.has(holder) ? holder : [])));
        state.refusals = new Map([...state.refusals].filter(([holder]) => !found.has(holder)));
        state.listAt = clock.monotonic() + settings.resyncMs * (0.8 + 0.4 * random());
      }
      const { labelled, refusals } = state;
      for (const each of unlabelled(within, labelled, refusals)) {
        // Somebody may have paused or deleted the object meanwhile, or changed the Account.
        const current = wantedBy(each.key, account) && reach(account, each);
        if (!current) continue;
        refusals.set(each.holder, (refusals.get(each.holder) ?? 0) + 1);
        const call = { method: "POST", url: urlOf(current, "core", each.path), body: clusterLabel(cluster) } as const;
        await current.connection.send({ ...call, object: each.key, guard, ...options });
        refusals.delete(each.holder);
        labelled.add(each.holder);
        state.failures = 0;
      }
    },
  };
}

/** The labels of an Account: the next run, and how the last ones ended. */
interface State {
  next?: { dueAt: number; cancel: () => void } | undefined;
  isRunning: boolean;
  /** Something is to be labelled since the current run began. */
  again: boolean;
  /** The resources that have a label, and when the next list is due. */
  labelled: Set<string>;
  listAt: number;
  /** Failed runs in a row that have labelled nothing, and the pause that follows. */
  failures: number;
  pausedUntil: number;
  /** Refused calls in a row, by resource. */
  refusals: Map<string, number>;
  outcome: string;
}

const newState = (): State => ({
  isRunning: false,
  again: false,
  labelled: new Set(),
  listAt: 0,
  failures: 0,
  pausedUntil: 0,
  refusals: new Map(),
  outcome: "",
});

/** Objects are often created together. */
const SOON_MS = 5_000;

/**
 * Labels what objects have created with the name of the cluster. No object waits for its label: each Account has one list of labels
 * per resync, and what is missing is written then, whichever process was killed before, and soon after a creation.
 */
export function createLabels(deps: LabelDeps, clusterName: () => string | undefined, random: () => number) {
  const { clock, log, objects, settings } = deps;
  const states = new Map<string, State>();
  const kinds = objects.kinds.filter(({ resource }) => resource?.place.labelled);
  const writer = labelWriter(deps, kinds, random);
  let signal: AbortSignal | undefined;

  function plan(account: string, inMs: number): void {
    const cluster = clusterName();
    if (!signal || signal.aborted || cluster === undefined) return;
    const state = states.get(account) ?? newState();
    states.set(account, state);
    state.again ||= state.isRunning;
    const dueAt = Math.max(clock.monotonic() + inMs, state.pausedUntil);
    if (state.isRunning || (state.next && state.next.dueAt <= dueAt)) return;
    state.next?.cancel();
    const start = run.bind(undefined, account, cluster, state, signal);
    state.next = { dueAt, cancel: clock.after(dueAt - clock.monotonic(), () => void start()) };
  }
  const planSoon = (account: string): void => plan(account, SOON_MS * (1 + random()));

  async function run(account: string, cluster: string, state: State, ending: AbortSignal): Promise<void> {
    if (ending.aborted) return;
    Object.assign(state, { next: undefined, isRunning: true, again: false });
    let wanted: Wanted[] | undefined;
    let error: unknown;
    try {
      wanted = await writer.wantedWith(account);
      await writer.write(account, wanted, cluster, state, ending);
    } catch (caught) {
      error = caught;
    }
    state.isRunning = false;
    if (ending.aborted || !leads(deps)) return;
    report(account, state, error);
    const askedMs = error instanceof Retry ? (error.afterMs ?? 0) : 0;
    const failedMs = Math.max(settings.resyncMs, backoffMs(settings, state.failures), askedMs);
    const now = clock.monotonic();
    state.failures = error === undefined ? 0 : state.failures + 1;
    state.pausedUntil = error === undefined ? 0 : now + failedMs;
    // The outcome of a call may be unknown: the next list shows it.
    if (error !== undefined) state.listAt = 0;
    if (wanted?.length === 0 && !state.again) states.delete(account);
    else if (state.again) planSoon(account);
    // An Account that does not work yet costs no call.
    else plan(account, state.listAt > now ? state.listAt - now : settings.retryMs);
  }

  /** One line for each change of the outcome. */
  function report(account: string, state: State, error: unknown): void {
    const failure = error instanceof PlatformError ? `${error.kind} ${error.status}` : "failed";
    const outcome = error === undefined ? "" : failure;
    if (outcome === state.outcome) return;
    state.outcome = outcome;
    if (error === undefined) log.info({ object: objectOf(account) }, "cluster labels are written again");
    else log.warn({ object: objectOf(account), err: error }, "cluster label not written");
  }

  return {
    /** An object has changed: its resource may need a label now. */
    notice(key: ObjectKey, { before, after }: Pick<Change<KubeObject>, "before" | "after">): void {
      const kind = kinds.find((each) => key.startsWith(`${each.kind}/`));
      const wanted = signal && kind && after && labelOf({ kind, object: after });
      if (!wanted || (before && labelOf({ kind, object: before })?.path === wanted.path)) return;
      const { account } = wanted.claim;
      if (!states.get(account)?.labelled.has(wanted.holder)) planSoon(account);
    },
    /** Works until the signal aborts. */
    begin(until: AbortSignal): void {
      signal = until;
      for (const { kind } of kinds) {
        void inSlices(clock, objects.store(kind).values(), (object) => {
          const { account } = claimOf(object) ?? {};
          if (account !== undefined) planSoon(account);
        });
      }
    },
  };
}
