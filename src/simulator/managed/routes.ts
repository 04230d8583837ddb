import { z } from "zod";
import type { Call, Method, Reply, Route } from "../http/exchange.ts";
import { invalid, missing } from "../http/refusal.ts";
import type { Row } from "../records/life.ts";
import { isVisible } from "../store/shown.ts";
import type { World } from "../world.ts";
import { type Managed, pathOf, type ShownOnce } from "./kind.ts";
import { change, create, remove } from "./lifecycle.ts";
import { hostRoute } from "./service.ts";
import { listOf, shown } from "./view.ts";

/** List, creation, reading, change and deletion of one kind. */
export function managedRoutes<F>(world: World, kind: Managed<F>, extra: Pick<Route, "prepare"> = {}): Route[] {
  const one = `${kind.path}/{${kind.param}}`;
  const route = (method: Method, path: string, handle: (call: Call) => Reply) =>
    hostRoute(world, kind.host, method, path, { handle, ...extra });
  return [
    route("GET", kind.path, (call) => listOf(world, kind, call, pathOf(kind.path, call.params))),
    route("POST", kind.path, (call) => made(world, kind, call)),
    route("GET", one, (call) => ({ status: 200, body: shown(world, kind, call, found(world, kind, call)) })),
    ...(kind.change === undefined ? [] : [route(kind.change, one, (call) => changed(world, kind, call))]),
    route("DELETE", one, (call) => {
      const leaving = remove(world, kind, call, found(world, kind, call));
      return { status: 202, ...(kind.showsRemoved && { body: shown(world, kind, call, leaving) }) };
    }),
  ];
}

/** The row that a path names; 404 also while it cannot be seen yet. */
export function found<F>(world: World, kind: Managed<F>, call: Call): Row<F> {
  const { within = () => () => true, owns = () => true } = kind;
  const isWithin = within(world, call);
  const row = kind.table(world).get(call.params[kind.param] ?? "");
  if (row === undefined || !owns(row) || !isWithin(row) || !isVisible(row, call.at)) throw missing();
  return row;
}

function made<F>(world: World, kind: Managed<F>, call: Call, id?: string): Reply {
  kind.within?.(world, call);
  const shownOnce: ShownOnce = {};
  const fields = kind.given(world, call, undefined, (more) => Object.assign(shownOnce, more));
  const row = create(world, kind, call, fields, id);
  return { status: kind.statuses.create, body: shown(world, kind, call, row, shownOnce) };
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
  const shownOnce: ShownOnce = {};
  const fields = kind.given(world, call, row, (more) => Object.assign(shownOnce, more));
  return {
    status: kind.statuses.change,
    body: shown(world, kind, call, change(world, kind, call, row, fields), shownOnce),
  };
}
