import type { Kind } from "../../src/kinds/kind.ts";
import { EXPORTED } from "../subjects/surroundings.ts";

/** The destination of a call of the operator. */
export type Side = "kubernetes" | "platform";

/** When the operator dies: before the call is executed; after it, with the answer unread; after the answer. */
export const moments = ["before", "executed", "answered"] as const;
export type Moment = (typeof moments)[number];

/**
 * A place in a life: the nth call with this method and route, by one process of the operator (from 1), in one phase. It
 * does not depend on timing.
 */
export interface Position {
  phase: string;
  process: number;
  side: Side;
  method: string;
  route: string;
  nth: number;
}

/** Tokens are created by a GET. */
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
 * The route of a call at a proxy; `undefined` for calls that are no step of a life: watches, the operator's Lease, and
 * calls of workloads to the addresses in their Secrets. Calls of an ActivityLogExport are the operator's.
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

/**
 * The phase of all calls about labels. The operator writes labels seconds after a creation, in whatever phase the life is
 * then.
 */
export const LABEL = "label";

export const isAboutLabels = (side: Side, route: string): boolean => side === "platform" && route.endsWith("/labels");

/** The label of a resource of this kind; undefined if it gets none. */
export function labelRoute({ resource }: Kind): string | undefined {
  return resource?.place.labelled ? `${resource.place.collection({})}/{id}/labels` : undefined;
}

/**
 * Whether a position occurs in every life of the kind. An operator that is not under test may have labelled a prerequisite
 * before, and a replacement may be deleted before its label comes.
 */
export const isCertain = ({ phase, method, route, nth }: Position, label: string | undefined): boolean =>
  phase !== LABEL || (label !== undefined && nth === 1 && (method === "GET" || route.endsWith(label)));

const withoutId = (segment: string): string =>
  /^\d+$/.test(segment) || /^[0-9a-f-]{32,36}$/i.test(segment) ? "{id}" : segment;

/** The creating call of a life: its first write to the platform, or else its first write. */
export function creationIn(positions: readonly Position[]): Position | undefined {
  const writes = positions.filter((each) => each.phase === "create" && isWrite(each));
  return writes.find(({ side }) => side === "platform") ?? writes[0];
}

/**
 * The positions of a recorded life: every write, and the first read of each route in each phase. Further reads of a
 * route are periodic, such as the lists of a collection, and their number is random.
 */
export function positionsOf(recorded: readonly Position[]): Position[] {
  return recorded
    .filter((call) => isWrite(call) || call.nth === 1)
    .map(({ phase, process, side, method, route, nth }) => ({ phase, process, side, method, route, nth }));
}
