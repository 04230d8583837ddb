import type { Call } from "../http/exchange.ts";
import { errorCode, refusal } from "../http/refusal.ts";
import type { World } from "../world.ts";
import { type Managed, pathOf } from "./kind.ts";
import type { Life, Row } from "./life.ts";

/** Makes one, PROVISIONING where that takes time. */
export function create<F>(
  world: World,
  kind: Managed<F>,
  { at, caller, effects }: Call,
  own: F,
  id = world.chance.uuid(`${kind.host.path}/${kind.type}`),
): Row<F> {
  const userId = caller.user.id;
  const stamps = { createdAt: at, createdBy: userId, modifiedAt: at, modifiedBy: userId };
  const born: Life = {
    ...stamps,
    id,
    state: "PROVISIONING",
    failure: effects.failWith,
    dueAt: at,
    visibleAt: at + effects.invisibleFor,
  };
  return begin(world, kind, effects.slowdown, { ...born, own });
}

/** Changes one; it is PROVISIONING again for a moment. */
export function change<F>(world: World, kind: Managed<F>, call: Call, row: Row<F>, own: F): Row<F> {
  refuseLeaving(kind, row);
  return begin(world, kind, call.effects.slowdown, { ...modified(call, row, "PROVISIONING"), own });
}

/** It can be seen until it has gone. */
export function remove<F>(world: World, kind: Managed<F>, call: Call, row: Row<F>): void {
  refuseLeaving(kind, row);
  kind.checkRemoval?.(world, row);
  begin(world, kind, call.effects.slowdown, { ...modified(call, row, "DESTROYING"), own: row.own });
}

/** Puts what an earlier run had begun back on the agenda. */
export function resume<F>(world: World, kind: Managed<F>): void {
  for (const row of kind.table(world).values()) if (isMoving(row)) putOnAgenda(world, kind, row);
}

const modified = ({ at, caller, effects }: Call, row: Life, state: Life["state"]): Life => ({
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
});

const isMoving = ({ state }: Life) => state === "PROVISIONING" || state === "DESTROYING";

function begin<F>(world: World, kind: Managed<F>, slowdown: number, row: Row<F>): Row<F> {
  const [low, high] = kind.span ?? [0, 0];
  const takes = high === 0 ? 0 : world.chance.between(`${kind.host.path}/${kind.type}/span`, low, high);
  const begun = { ...row, dueAt: row.modifiedAt + Math.round(takes * slowdown) };
  kind.table(world).put(begun.id, begun);
  if (takes === 0) return end(world, kind, begun.id, begun.dueAt) ?? begun;
  putOnAgenda(world, kind, begun);
  return begun;
}

function putOnAgenda<F>(world: World, kind: Managed<F>, { id, dueAt }: Row<F>): void {
  world.agenda.schedule(dueAt, () => world.documents.transaction(() => void end(world, kind, id, dueAt)));
}

/** A later write has set another end: then this one is of no account any more. */
function end<F>(world: World, kind: Managed<F>, id: string, dueAt: number): Row<F> | undefined {
  const table = kind.table(world);
  const row = table.get(id);
  if (row === undefined || row.dueAt !== dueAt || !isMoving(row)) return undefined;
  const { failure, modifiedBy: by } = row;
  const leaves = row.state === "DESTROYING";
  const method = leaves ? "DELETE" : row.createdAt === row.modifiedAt ? "POST" : kind.change;
  const collection = `/${kind.host.path}${pathOf(kind.path, kind.metadata(world, row))}`;
  world.activity.settled({ method, collection, type: kind.type, id, by, failure });
  if (leaves && failure === null) {
    table.delete(id);
    kind.gone?.(world, row);
    return undefined;
  }
  const settled: Row<F> = { ...row, state: failure === null ? "AVAILABLE" : "FAILED", hidden: false };
  table.put(id, settled);
  return settled;
}

function refuseLeaving<F>({ type }: Managed<F>, { id, state }: Row<F>): void {
  if (state === "DESTROYING") throw refusal(409, errorCode.refused, `The ${type} ${id} is being deleted`);
}
