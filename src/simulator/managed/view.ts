import { compare, pageLinks, wholeNumber } from "../core/kind/listing.ts";
import type { Call, Reply } from "../http/exchange.ts";
import { invalid } from "../http/refusal.ts";
import type { Row } from "../records/life.ts";
import { isListed, isVisible } from "../store/shown.ts";
import { timestamp } from "../time.ts";
import type { World } from "../world.ts";
import { collectionOf, type Managed, rowsOf, type ShownOnce } from "./kind.ts";
import { stampsOf, urnOf } from "./service.ts";

/** A row as answers show it; `once` is in this answer only. */
export function shown<F>(world: World, kind: Managed<F>, call: Call, row: Row<F>, once: ShownOnce = {}) {
  const { host, type, failed = statusMessage } = kind;
  return {
    id: row.id,
    type,
    href: `${call.origin}${collectionOf(world, kind, row)}/${row.id}`,
    metadata: {
      ...stampsOf(world, call, row),
      resourceURN: urnOf(world, host, type, row.id),
      ...kind.metadata(world, row, call),
      ...(row.state === "FAILED" && failed(world, row)),
      ...once.metadata,
    },
    properties: { ...kind.properties(row, world), ...kind.answered?.(world, row, call), ...once.properties },
  };
}

const statusMessage = (_: World, { failure }: { failure: string | null }) => ({ statusMessage: failure });

/** The rows of a kind for `GET /_simulator/state`, without the secrets that only a creation shows. */
export const managedState = <F>(world: World, kind: Managed<F>) =>
  rowsOf(world, kind).map((row) => ({
    id: row.id,
    type: kind.type,
    state: row.state,
    failure: row.failure,
    visible: isVisible(row, world.clock.now()),
    createdDate: timestamp(row.createdAt),
    createdByUserId: row.createdBy,
    ...kind.inspected?.(world, row),
    properties: kind.properties(row, world),
  }));

/** Answers a GET on the collection at `path` with the rows that the call can see and its filters keep. */
export function listOf<F>(world: World, kind: Managed<F>, call: Call, path: string): Reply {
  const within = kind.within?.(world, call) ?? (() => true);
  const filters = Object.entries(kind.filters ?? {}).flatMap(([name, keeps]) => {
    const values = call.query.getAll(`filter.${name}`).filter((value) => value !== "");
    return values.length === 0 ? [] : [(row: Row<F>) => values.some((value) => keeps(row, value))];
  });
  const rows = rowsOf(world, kind).filter(
    (row) => isListed(row, call) && within(row) && filters.every((keeps) => keeps(row)),
  );
  const show = (row: Row<F>) => shown(world, kind, call, row);
  if (kind.paged === false) return wholeReply(call, `/${kind.host.path}${path}`, rows.map(show));
  return pageReply(call, kind.host, path, ordered(kind, call, rows), show);
}

/** Orders by the property that `orderBy` names; `-` before it reverses the order. Without one the oldest come first. */
function ordered<F>({ orders }: Managed<F>, { query }: Call, rows: Row<F>[]): Row<F>[] {
  const orderBy = query.get("orderBy");
  if (orders === undefined || orderBy === null || orderBy === "") return rows;
  const [, sign, property = ""] = /^(-?)(?:metadata\.|properties\.)?(\w*)$/.exec(orderBy) ?? [];
  const keyOf = Object.hasOwn(orders, property) ? orders[property] : undefined;
  if (keyOf === undefined) {
    throw invalid("orderBy", `must be one of ${Object.keys(orders).join(", ")}, with - before it for descending order`);
  }
  const direction = sign === "-" ? -1 : 1;
  return rows.toSorted((a, b) => direction * compare(keyOf(a), keyOf(b)));
}

/** A page of a list. */
export function pageReply<T>(
  call: Call,
  host: { path: string },
  path: string,
  items: readonly T[],
  show: (item: T) => object,
): Reply {
  const offset = wholeNumber(call, "offset", 0, Number.MAX_SAFE_INTEGER, 0);
  const limit = wholeNumber(call, "limit", 1, 1000, 100);
  const href = `${call.origin}/${host.path}${path}`;
  const { region } = call.params;
  const body = {
    id: path.slice(region === undefined ? 1 : region.length + 2),
    type: "collection",
    href,
    items: items.slice(offset, offset + limit).map(show),
    offset,
    limit,
    _links: pageLinks(call, href, offset, limit, items.length),
  };
  return { status: 200, body };
}

/** A list without pages. */
export const wholeReply = ({ origin }: Call, path: string, items: object[]): Reply => ({
  status: 200,
  body: { id: path.split("/").at(-1), type: "collection", href: `${origin}${path}`, items },
});
