import { decide } from "../../src/engine/decide/decide.ts";
import type { Decision } from "../../src/engine/decide/decision.ts";
import type { Observation, Search, View } from "../../src/engine/look/view.ts";
import type { Intent } from "../../src/engine/objects/intent.ts";
import { type Choose, CREATE_DEADLINE, type ModelPlatform, SETTLE } from "./model-platform.ts";
import { claimed, type ModelMemory, openIntent, type Snapshot, type Stored, write } from "./model-state.ts";
import { viewOf } from "./views.ts";

/** The process may stand still for so long before it has lost its lease and sends nothing any more. */
const LEASE = 10_000;
const SKEW = 120_000;
const UNSETTLED = CREATE_DEADLINE + SETTLE;

/** Thrown where the real process ends itself. */
export class Died extends Error {}
/** Thrown where one pass fails and is made again later. */
export class Failed extends Error {}

let nonces = 0;

/**
 * One life of the operator: it decides as the real one does, and has the same effects in the same order. Every `yield`
 * is a place to die at, or to let another object go on.
 */
export function modelOperator(platform: ModelPlatform, objects: readonly Stored[], choose: Choose) {
  const memories = new Map<string, ModelMemory>();
  let snapshot: Snapshot | undefined;
  /** Ids that some object has claimed, as far as this process has seen. */
  const spent = new Set(objects.flatMap((each) => (each.gone ? [] : (claimed(each) ?? []))));

  const equals = ({ hash }: Intent) => objects.filter((each) => !each.gone && openIntent(each)?.hash === hash);
  const memoryOf = ({ name }: Stored): ModelMemory => {
    const memory = memories.get(name) ?? {};
    memories.set(name, memory);
    return memory;
  };

  function refresh() {
    const seen = platform.list().flatMap((id) => {
      const item = platform.get(id);
      return item ? [[id, { busy: item.busy }] as const] : [];
    });
    snapshot = { asOf: platform.now, items: new Map(seen) };
    for (const object of objects) {
      const id = claimed(object);
      if (id !== undefined && !snapshot.items.has(id)) ask(object, id);
    }
  }

  function ask(object: Stored, id: string) {
    const gone = object.request?.action === "delete" && platform.get(id) === undefined;
    memoryOf(object).outcome = object.request?.action === "delete" ? (gone ? "DONE" : "BUSY") : platform.creation(id);
  }

  function observe(id: string, memory: ModelMemory): Observation {
    if (!snapshot) return { seen: "unknown" };
    const { asOf } = snapshot;
    const item = snapshot.items.get(id);
    if (item) {
      memory.absence = undefined;
      const comparison = item.busy ? undefined : { drift: [] };
      return { seen: "present", asOf, busy: item.busy, state: item.busy ? "BUSY" : "AVAILABLE", comparison };
    }
    const { absence } = memory;
    const confirmed = absence !== undefined && absence.last - absence.since >= SETTLE;
    return { seen: "absent", asOf: absence?.last ?? asOf, confirmed };
  }

  function findings(object: Stored, intent: Intent): Search | undefined {
    const { unclaimed, search } = memoryOf(object);
    const pending = search?.pending ?? false;
    if (unclaimed?.nonce === intent.nonce) {
      return {
        lookedAt: platform.now,
        endedAt: platform.now,
        matches: [unclaimed.id],
        pending,
        rivals: 1,
        rank: 0,
        inFlight: false,
      };
    }
    if (search?.nonce !== intent.nonce) return undefined;
    const equal = equals(intent);
    equal.sort((a, b) => (a.intent?.at ?? "").localeCompare(b.intent?.at ?? "") || a.name.localeCompare(b.name));
    const taking = (rival: Stored) => {
      const { unclaimed: held } = memoryOf(rival);
      return rival !== object && held && held.nonce === openIntent(rival)?.nonce ? held.id : undefined;
    };
    const rivals = equal.filter((rival) => taking(rival) === undefined);
    const taken = new Set(equal.map(taking));
    const matches = search.ids.filter((id) => !taken.has(id) && !spent.has(id));
    const crowded = pending && matches.length >= rivals.length;
    const busy = equal.some((rival) => memoryOf(rival).posting === true || taking(rival) !== undefined);
    return {
      lookedAt: search.lookedAt,
      endedAt: search.endedAt,
      pending,
      matches,
      rivals: rivals.length,
      rank: rivals.indexOf(object),
      inFlight: crowded || busy,
    };
  }

  function look(object: Stored): View {
    const memory = memoryOf(object);
    const intent = openIntent(object);
    const id = claimed(object);
    if (intent && memory.seen?.nonce !== intent.nonce) memory.seen = { nonce: intent.nonce, at: platform.now };
    return viewOf({
      now: platform.now,
      deleting: object.deleting,
      hasFinalizer: object.finalizer,
      intent,
      unsent: intent !== undefined && memory.unsent === intent.nonce,
      claim: id === undefined ? undefined : { id, parents: {}, account: "" },
      request:
        id !== undefined && object.request ? { ...object.request, outcome: memory.outcome ?? "unknown" } : undefined,
      observation: id === undefined ? { seen: "unknown" } : observe(id, memory),
      search: intent && findings(object, intent),
      failure: memory.failure,
      unsettledMs: UNSETTLED,
      settledAt: Math.max(Date.parse(intent?.at ?? "") || 0, memory.seen?.at ?? 0) + UNSETTLED,
    });
  }

  const postpone = (memory: ModelMemory) => {
    memory.failure = { reason: "Rejected", message: "no", retryAt: platform.now + 60_000 };
  };

  function* create(object: Stored): Generator<void> {
    const memory = memoryOf(object);
    const { version } = object;
    yield;
    const at = new Date(platform.now).toISOString();
    const intent = { nonce: `n${nonces++}`, at, hash: object.body, parents: {}, account: "", fixed: {} };
    memory.unsent = intent.nonce;
    memory.seen = { nonce: intent.nonce, at: platform.now };
    if (object.version !== version) throw new Failed("somebody wrote meanwhile");
    write(object, { intent, finalizer: true });
    const wroteAt = platform.now;
    yield;
    memory.posting = true;
    memory.search = undefined;
    if (platform.now - wroteAt > LEASE) throw new Died("the lease was lost");
    memory.unsent = undefined;
    const since = platform.now;
    const posted = platform.post(object.body, Date.parse(intent.at) + CREATE_DEADLINE);
    yield;
    memory.posting = false;
    switch (posted.answer) {
      case "none":
        return;
      case "slow down":
        memory.unsent = intent.nonce;
        return;
      case "refused":
        memory.unsent = intent.nonce;
        postpone(memory);
        yield;
        return write(object, { nonce: intent.nonce });
      case "created":
        memory.unclaimed = { nonce: intent.nonce, id: posted.id, since };
        return yield* claim(object, intent, memory.unclaimed);
    }
  }

  /** The write of the claim takes its time, and its answer may be lost as well. */
  function* claim(
    object: Stored,
    intent: Intent,
    { id, since }: NonNullable<ModelMemory["unclaimed"]>,
  ): Generator<void> {
    const memory = memoryOf(object);
    yield;
    const fate = choose("written", "written, answer lost", "not written");
    if (fate === "not written") throw new Failed("no answer from the API server");
    if (openIntent(object)?.nonce !== intent.nonce) throw new Error("the intent of the only operator was replaced");
    write(object, { id, nonce: intent.nonce, request: { action: "create", since } });
    spent.add(id);
    memory.outcome = undefined;
    if (fate === "written, answer lost") throw new Failed("no answer from the API server");
    memory.unclaimed = undefined;
    memory.search = undefined;
  }

  function* search(object: Stored, intent: Intent, settledAt: number): Generator<void> {
    const memory = memoryOf(object);
    const lookedAt = platform.now;
    const begun = equals(intent).map((each) => Date.parse(openIntent(each)?.at ?? intent.at));
    const log = platform.log(object.body, Math.min(...begun) - SKEW).filter(({ status }) => status !== "FAILED");
    yield;
    const unowned = log.filter(({ id }) => !spent.has(id));
    const ids = unowned.filter(({ id }) => platform.get(id)).map(({ id }) => id);
    const before = memory.search?.nonce === intent.nonce ? memory.search.ids : [];
    const open = (status: string) => status !== "DONE" || lookedAt < settledAt;
    const pending = unowned.some(({ id, status }) => open(status) && !platform.get(id) && !before.includes(id));
    yield;
    memory.search = { nonce: intent.nonce, lookedAt, endedAt: platform.now, pending, ids };
  }

  function confirm(object: Stored, id: string, seen: Observation["seen"]) {
    const memory = memoryOf(object);
    const askedAt = platform.now;
    if (askedAt - (memory.askedAt ?? 0) < 1000) return;
    memory.askedAt = askedAt;
    ask(object, id);
    if (seen !== "absent") return;
    const item = platform.get(id);
    if (item) refresh();
    memory.absence = item ? undefined : { since: memory.absence?.since ?? askedAt, last: askedAt };
  }

  function* perform(object: Stored, view: View, decision: Decision): Generator<void> {
    const memory = memoryOf(object);
    const id = claimed(object);
    const { intent } = view;
    switch (decision.step) {
      case "create":
        return yield* create(object);
      case "search":
        if (intent) yield* search(object, intent, view.settledAt);
        return;
      case "claim":
        if (!intent) return;
        if (memory.unclaimed?.id !== decision.id)
          memory.unclaimed = { nonce: intent.nonce, id: decision.id, since: Date.parse(intent.at) };
        return yield* claim(object, intent, memory.unclaimed);
      case "wait":
        if (decision.look === "list") refresh();
        if (decision.look === "member" && id !== undefined) confirm(object, id, view.observation.seen);
        return;
      case "rest":
        write(object, { ready: true, request: undefined });
        Object.assign(memory, { failure: undefined, askedAt: undefined });
        // Later on the id takes the place of the intent.
        if (choose(false, true)) write(object, { intent: undefined });
        return;
      case "forget":
        write(object, { id: undefined, request: undefined, ready: false });
        memory.absence = undefined;
        return;
      case "fail":
        postpone(memory);
        write(object, { request: undefined, ...(decision.gone && { id: undefined }) });
        return;
      case "delete": {
        if (id === undefined) throw new Error("only what is claimed is deleted");
        const since = platform.now;
        const answer = platform.remove(id);
        yield;
        if (answer === "not found") refresh();
        if (answer !== "accepted") return;
        memory.outcome = undefined;
        return write(object, { request: { action: "delete", since } });
      }
      case "release":
        return write(object, { gone: true });
      default:
        return;
    }
  }

  return {
    *pass(object: Stored): Generator<void> {
      if (object.gone) return;
      const due = snapshot !== undefined && platform.now - snapshot.asOf >= 3000;
      if (choose(due, !due)) refresh();
      const view = look(object);
      yield* perform(object, view, decide(view));
    },
  };
}
