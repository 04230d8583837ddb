import { decide } from "../../src/engine/decide.ts";
import type { Decision, Failure, Observation, PendingRequest, View } from "../../src/engine/decision.ts";
import type { Intent } from "../../src/engine/intent.ts";
import { type Choose, CREATE_DEADLINE, type ModelPlatform, SETTLE } from "./model-platform.ts";
import { viewOf } from "./views.ts";

/** What etcd keeps of one object. */
export interface Stored {
  name: string;
  body: string;
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
  deleting: false,
  gone: false,
  finalizer: false,
  intent: undefined,
  nonce: undefined,
  id: undefined,
  request: undefined,
  ready: false,
});

/** What a crash takes away. */
interface Memory {
  search?: { nonce: string; lookedAt: number; ids: string[] };
  unsent?: string | undefined;
  unclaimed?: { nonce: string; id: string; since: number };
  failure?: Failure;
  absentAt?: number;
  outcome?: PendingRequest["outcome"] | undefined;
  posting?: boolean;
}

interface Snapshot {
  asOf: number;
  items: Map<string, { busy: boolean }>;
}

export const openIntent = ({ intent, nonce }: Stored): Intent | undefined =>
  intent && intent.nonce !== nonce ? intent : undefined;
const claimed = (object: Stored): string | undefined => (openIntent(object) ? undefined : object.id);

/** The process may stand still for so long before it has lost its lease and sends nothing any more. */
export const LEASE = 10_000;

/** Thrown where the real process ends itself. */
export class Died extends Error {}

let nonces = 0;

/**
 * One life of the operator: it decides as the real one does, and has the same effects in the same order. Every `yield`
 * is a place to die at, or to let another object go on.
 */
export function modelOperator(platform: ModelPlatform, objects: readonly Stored[], choose: Choose) {
  const memories = new Map<string, Memory>();
  let snapshot: Snapshot | undefined;

  const memoryOf = ({ name }: Stored): Memory => {
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

  function observe(id: string, { absentAt = 0 }: Memory): Observation {
    if (!snapshot) return { seen: "unknown" };
    const { asOf } = snapshot;
    const item = snapshot.items.get(id);
    if (!item) return { seen: "absent", asOf, confirmed: absentAt >= asOf };
    const comparison = item.busy ? undefined : { drift: [] };
    return { seen: "present", asOf, busy: item.busy, state: item.busy ? "BUSY" : "AVAILABLE", comparison };
  }

  function findings(object: Stored, intent: Intent): View["search"] {
    const { unclaimed, search } = memoryOf(object);
    if (unclaimed?.nonce === intent.nonce) {
      return { lookedAt: platform.now, matches: [unclaimed.id], rivals: 1, rank: 0, inFlight: false };
    }
    if (search?.nonce !== intent.nonce) return undefined;
    const rivals = objects.filter((each) => !each.gone && openIntent(each)?.hash === intent.hash);
    rivals.sort((a, b) => (a.intent?.at ?? "").localeCompare(b.intent?.at ?? "") || a.name.localeCompare(b.name));
    return {
      lookedAt: search.lookedAt,
      matches: search.ids.filter((id) => !objects.some((each) => !each.gone && claimed(each) === id)),
      rivals: rivals.length,
      rank: rivals.indexOf(object),
      inFlight: rivals.some((rival) => memoryOf(rival).posting === true),
    };
  }

  function look(object: Stored): View {
    const memory = memoryOf(object);
    const intent = openIntent(object);
    const id = claimed(object);
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
      unsettledMs: CREATE_DEADLINE + SETTLE,
    });
  }

  function* create(object: Stored): Generator<void> {
    const memory = memoryOf(object);
    const intent = {
      nonce: `n${nonces++}`,
      at: new Date(platform.now).toISOString(),
      hash: object.body,
      parents: {},
      account: "",
    };
    memory.unsent = intent.nonce;
    Object.assign(object, { intent, finalizer: true });
    yield;
    if (platform.now - Date.parse(intent.at) > LEASE) throw new Died("the lease was lost");
    memory.posting = true;
    memory.unsent = undefined;
    delete memory.search;
    const posted = platform.post(object.body, platform.now + CREATE_DEADLINE);
    yield;
    memory.posting = false;
    if (posted.answer === "none") return;
    if (posted.answer === "refused") {
      memory.unsent = intent.nonce;
      yield;
      object.nonce = intent.nonce;
      memory.failure = { reason: "Rejected", message: "no", retryAt: platform.now + 60_000 };
      return;
    }
    memory.unclaimed = { nonce: intent.nonce, id: posted.id, since: platform.now };
    yield;
    claim(object, intent, posted.id);
  }

  function claim(object: Stored, intent: Intent, id: string) {
    if (openIntent(object)?.nonce !== intent.nonce) throw new Error("somebody else wrote");
    const memory = memoryOf(object);
    const since = memory.unclaimed?.id === id ? memory.unclaimed.since : Date.parse(intent.at);
    Object.assign(object, { id, nonce: intent.nonce, request: { action: "create", since } });
    memories.set(object.name, {});
  }

  function* perform(object: Stored, decision: Decision): Generator<void> {
    const memory = memoryOf(object);
    const id = claimed(object);
    const intent = openIntent(object);
    switch (decision.step) {
      case "create":
        return yield* create(object);
      case "search": {
        if (!intent) throw new Error("a search needs an intent");
        const began = platform.now;
        const log = platform
          .log(object.body, Date.parse(intent.at) - 120_000)
          .filter(({ status }) => status !== "FAILED");
        yield;
        const there = log.filter(({ id }) => platform.get(id));
        const pending = log.some(({ id, status }) => status === "BUSY" && !platform.get(id));
        memory.search = { nonce: intent.nonce, lookedAt: pending ? 0 : began, ids: there.map(({ id }) => id) };
        return;
      }
      case "claim":
        if (intent) claim(object, intent, decision.id);
        return;
      case "wait":
        if (decision.look === "list") refresh();
        if (decision.look === "member" && id !== undefined) {
          ask(object, id);
          if (platform.get(id)) refresh();
          else memory.absentAt = platform.now;
        }
        return;
      case "rest":
        Object.assign(object, { ready: true, request: undefined });
        return;
      case "forget":
        Object.assign(object, { id: undefined, request: undefined, ready: false });
        return;
      case "fail":
        memory.failure = { reason: decision.reason, message: decision.message, retryAt: platform.now + 60_000 };
        Object.assign(object, { request: undefined, ...(decision.gone && { id: undefined }) });
        return;
      case "delete": {
        if (id === undefined) throw new Error("only what is claimed is deleted");
        const since = platform.now;
        const answer = platform.remove(id);
        yield;
        if (answer === "not found") refresh();
        if (answer !== "accepted") return;
        memory.outcome = undefined;
        object.request = { action: "delete", since };
        return;
      }
      case "release":
        Object.assign(object, { gone: true });
        return;
      default:
        return;
    }
  }

  return {
    *pass(object: Stored): Generator<void> {
      if (object.gone) return;
      if (object.deleting && !object.finalizer) object.gone = true;
      else {
        const due = snapshot !== undefined && platform.now - snapshot.asOf >= 3000;
        if (choose(due, !due)) refresh();
        yield* perform(object, decide(look(object)));
      }
    },
  };
}
