import { EXPORTED } from "../subjects/surroundings.ts";

/** Where a call of the operator goes. */
export type Side = "kubernetes" | "platform";

/** When the operator dies: nothing was executed; executed, answer unread; answered. */
export const moments = ["before", "executed", "answered"] as const;
export type Moment = (typeof moments)[number];

/**
 * A place in a life: the nth call with this method and route that one process of the operator, counted from 1, makes in
 * one phase. Timing does not move it.
 */
export interface Position {
  phase: string;
  process: number;
  side: Side;
  method: string;
  route: string;
  nth: number;
}

/** Tokens are made by a GET. */
export const isWrite = ({ method, route }: Pick<Position, "method" | "route">): boolean =>
  method !== "GET" || route.endsWith("/tokens/generate");

export const nameOf = ({ phase, process, side, method, route, nth }: Position): string =>
  `${phase}${process > 1 ? `, process ${process}` : ""}: ${side} ${method} ${route} #${nth}`;

export const samePosition = (a: Position, b: Position): boolean => nameOf(a) === nameOf(b);

/** Where the operator is to be killed. */
export interface Target {
  position: Position;
  moment: Moment;
}

/**
 * A call as it arrives at a proxy; `undefined` for what is no step of a life: watches, the operator's own Lease, and what
 * workloads send to the addresses in their Secrets. What an ActivityLogExport sends there is the operator's own.
 */
export function routeOf(side: Side, url: string): string | undefined {
  const { pathname, searchParams } = new URL(url, "http://operator");
  if (pathname.startsWith("/ingest/") && !pathname.endsWith(`/${EXPORTED}`)) return undefined;
  if (side === "platform") return pathname.split("/").map(withoutId).join("/");
  if (searchParams.get("watch") === "true" || pathname.includes("/coordination.k8s.io/")) return undefined;
  return pathname
    .replace(/^\/apis?\/([^/]+\/)?v[^/]+\//, "")
    .replace(/^namespaces\/[^/]+\/(?=.)/, "")
    .replace(/^([^/]+)\/[^/]+/, "$1/{name}");
}

const withoutId = (segment: string): string =>
  /^\d+$/.test(segment) || /^[0-9a-f-]{32,36}$/i.test(segment) ? "{id}" : segment;

/** Where a life makes something: its first write to the platform, or where it has none there, its first write at all. */
export function creationIn(positions: readonly Position[]): Position | undefined {
  const writes = positions.filter((each) => each.phase === "create" && isWrite(each));
  return writes.find(({ side }) => side === "platform") ?? writes[0];
}

/**
 * The positions of a recorded life: every write, and of the reads the first of each route in each phase. Further reads
 * of a route are repetitions on a clock, such as the lists of a collection: how many there are is chance.
 */
export function positionsOf(recorded: readonly Position[]): Position[] {
  return recorded
    .filter((call) => isWrite(call) || call.nth === 1)
    .map(({ phase, process, side, method, route, nth }) => ({ phase, process, side, method, route, nth }));
}
