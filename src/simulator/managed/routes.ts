import { z } from "zod";
import type { Call, Method, Reply, Route } from "../http/exchange.ts";
import { invalid, missing } from "../http/refusal.ts";
import { isListed, isVisible } from "../store/shown.ts";
import type { World } from "../world.ts";
import { type Managed, pathOf } from "./kind.ts";
import type { Row } from "./life.ts";
import { change, create, remove } from "./lifecycle.ts";
import { hostRoute } from "./service.ts";
import { pageReply, shown } from "./view.ts";

/** List, creation, reading, change and deletion of one kind. */
export function managedRoutes<F>(world: World, kind: Managed<F>, extra: Pick<Route, "prepare"> = {}): Route[] {
  const one = `${kind.path}/{${kind.param}}`;
  const route = (method: Method, path: string, handle: (call: Call) => Reply) =>
    hostRoute(world, kind.host, method, path, { handle, ...extra });
  return [
    route("GET", kind.path, (call) => listOf(world, kind, call, pathOf(kind.path, call.params))),
    route("POST", kind.path, (call) => made(world, kind, call)),
    route("GET", one, (call) => ({ status: 200, body: shown(world, kind, call, found(world, kind, call)) })),
    route(kind.change, one, (call) => changed(world, kind, call)),
    route("DELETE", one, (call) => {
      remove(world, kind, call, found(world, kind, call));
      return { status: 202 };
    }),
  ];
}

/** A list of one kind below `path`, as far as the call can see it and its filters let it through. */
export function listOf<F>(world: World, kind: Managed<F>, call: Call, path: string): Reply {
  const within = kind.within?.(world, call) ?? (() => true);
  const filters = Object.entries(kind.filters ?? {}).flatMap(([name, keeps]) => {
    const values = call.query.getAll(`filter.${name}`).filter((value) => value !== "");
    return values.length === 0 ? [] : [(row: Row<F>) => values.some((value) => keeps(row, value))];
  });
  const rows = [...kind.table(world).values()].filter(
    (row) => isListed(row, call) && within(row) && filters.every((keeps) => keeps(row)),
  );
  return pageReply(call, kind.host, path, rows, (row) => shown(world, kind, call, row));
}

/** The one that a path names; 404 also while it cannot be seen yet. */
export function found<F>(world: World, kind: Managed<F>, call: Call): Row<F> {
  const within = kind.within?.(world, call) ?? (() => true);
  const row = kind.table(world).get(call.params[kind.param] ?? "");
  if (row === undefined || !isVisible(row, call.at) || !within(row)) throw missing();
  return row;
}

function made<F>(world: World, kind: Managed<F>, call: Call, id?: string): Reply {
  kind.within?.(world, call);
  const row = create(world, kind, call, kind.given(world, call, undefined), id);
  return { status: kind.statuses.create, body: shown(world, kind, call, row, kind.toldOnce?.(row)) };
}

const uuid = z.guid();

function changed<F>(world: World, kind: Managed<F>, call: Call): Reply {
  const id = call.params[kind.param] ?? "";
  if (kind.change === "PUT" && kind.table(world).get(id) === undefined) {
    kind.within?.(world, call);
    if (!uuid.safeParse(id).success) throw invalid(kind.param, "must be a UUID");
    return made(world, kind, call, id);
  }
  const row = found(world, kind, call);
  const next = change(world, kind, call, row, kind.given(world, call, row));
  return { status: kind.statuses.change, body: shown(world, kind, call, next) };
}
