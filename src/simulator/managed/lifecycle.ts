import { isDeepStrictEqual } from "node:util";
import type { Call } from "../http/exchange.ts";
import { conflict } from "../http/refusal.ts";
import type { Life, Row } from "../records/life.ts";
import type { World } from "../world.ts";
import { collectionOf, type Managed, type Operation, rowsOf, type Span } from "./kind.ts";

/** Creates a row, PROVISIONING where that takes time. */
export function create<F>(world: World, kind: Managed<F>, call: Call, fields: F, id = newId(world, kind)): Row<F> {
  const { at, caller, effects } = call;
  const userId = caller.user.id;
  const unseen = kind.unseen === undefined ? 0 : Math.round(drawn(world, kind, "unseen", kind.unseen));
  const life: Life = {
    id,
    state: kind.working ?? "PROVISIONING",
    failure: effects.failWith,
    dueAt: at,
    createdAt: at,
    createdBy: userId,
    modifiedAt: at,
    modifiedBy: userId,
    visibleAt: at + Math.max(unseen, effects.invisibleFor),
  };
  return begin(world, kind, call, "create", { ...fields, ...life });
}

/** Changes a row; it is PROVISIONING again until that has ended. */
export function change<F>(world: World, kind: Managed<F>, call: Call, row: Row<F>, fields: F): Row<F> {
  refuseDestroying(kind, row);
  if (kind.exclusive) {
    // A FAILED row is tried again even without a change.
    if (row.state !== "FAILED" && isDeepStrictEqual({ ...row, ...fields }, row)) return row;
    if (isInProgress(row))
      throw conflict(`The ${kind.type} ${row.id} is being provisioned; wait until it is AVAILABLE`);
  }
  kind.changing?.(world, row);
  return begin(world, kind, call, "update", { ...fields, ...modified(call, row, kind.working ?? "PROVISIONING") });
}

/** Deletes a row. Reads show it until it is gone, unless a fault hides it. */
export function remove<F>(world: World, kind: Managed<F>, call: Call, row: Row<F>): Row<F> {
  refuseDestroying(kind, row);
  kind.checkRemoval?.(world, row);
  return begin(world, kind, call, "delete", { ...row, ...modified(call, row, "DESTROYING") });
}

/** Schedules the ends of the operations that an earlier run had started. */
export function resume<F>(world: World, kind: Managed<F>): void {
  for (const row of rowsOf(world, kind)) if (isInProgress(row)) putOnAgenda(world, kind, row);
}

/**
 * Ends the operation of a row when its time is over and its progress outside the API is done, whichever is later. The
 * agenda calls it at the end of that time, and the brokers call it when they are done. Inside a transaction.
 */
export function settle<F>(world: World, kind: Managed<F>, id: string): void {
  const row = kind.table(world).get(id);
  if (row === undefined || !isInProgress(row) || world.clock.now() < row.dueAt) return;
  const progress = row.failure === null ? kind.progress?.(world, row) : undefined;
  if (progress?.kind === "pending") return;
  end(world, kind, { ...row, failure: progress?.kind === "failed" ? progress.message : row.failure });
}

function end<F>(world: World, kind: Managed<F>, row: Row<F>): void {
  const { id, failure, modifiedBy: by } = row;
  const isDeletion = row.state === "DESTROYING";
  const isCreation = row.createdAt === row.modifiedAt;
  const writeMethod = isCreation ? "POST" : (kind.change ?? "POST");
  const method = isDeletion ? "DELETE" : writeMethod;
  world.activity.settled({ method, collection: collectionOf(world, kind, row), type: kind.type, id, by, failure });
  const table = kind.table(world);
  if (failure !== null) {
    table.put(id, { ...row, state: "FAILED", hidden: false });
  } else if (isDeletion) {
    table.delete(id);
    kind.gone?.(world, row);
  } else {
    table.put(id, { ...row, ...kind.ready, state: "AVAILABLE", hidden: false });
  }
}

const newId = <F>(world: World, { host, type, draws }: Managed<F>) =>
  world.chance.uuid(draws?.id ?? `${host.path}/${type}`);

const drawn = <F>(world: World, { host, type, draws }: Managed<F>, what: Operation | "unseen", [low, high]: Span) =>
  world.chance.between(draws?.time(what) ?? `${host.path}/${type}/span`, low, high);

function modified({ at, caller, effects }: Call, row: Life, state: Life["state"]): Life {
  return {
    id: row.id,
    state,
    failure: effects.failWith,
    dueAt: at,
    createdAt: row.createdAt,
    createdBy: row.createdBy,
    modifiedAt: at,
    modifiedBy: caller.user.id,
    visibleAt: row.visibleAt,
    hidden: state === "DESTROYING" && effects.hideWhileDeleting,
  };
}

const isInProgress = ({ state }: Life) => state === "PROVISIONING" || state === "DEPLOYING" || state === "DESTROYING";

function begin<F>(world: World, kind: Managed<F>, { effects }: Call, operation: Operation, row: Row<F>): Row<F> {
  const span = spanOf(kind, operation);
  const duration = span === undefined ? 0 : drawn(world, kind, operation, span);
  const begun = { ...row, dueAt: row.modifiedAt + Math.round(duration * effects.slowdown) };
  kind.table(world).put(begun.id, begun);
  if (span !== undefined) {
    putOnAgenda(world, kind, begun);
    return begun;
  }
  settle(world, kind, begun.id);
  return kind.table(world).get(begun.id) ?? begun;
}

const isSpan = (span: Managed<never>["span"]): span is Span => Array.isArray(span);

function spanOf<F>({ span }: Managed<F>, operation: Operation): Span | undefined {
  return isSpan(span) ? span : span?.[operation];
}

/** If a later operation has set another `dueAt`, this entry does nothing. */
function putOnAgenda<F>(world: World, kind: Managed<F>, { id, dueAt }: Life): void {
  world.agenda.schedule(dueAt, () =>
    world.documents.transaction(() => {
      if (kind.table(world).get(id)?.dueAt === dueAt) settle(world, kind, id);
    }),
  );
}

function refuseDestroying<F>({ type }: Managed<F>, { id, state }: Row<F>): void {
  if (state === "DESTROYING") throw conflict(`The ${type} ${id} is being deleted`);
}
