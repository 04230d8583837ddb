import { pageLinks, wholeNumber } from "../core/kind/listing.ts";
import type { Call, Reply } from "../http/exchange.ts";
import { isVisible } from "../store/shown.ts";
import { timestamp } from "../time.ts";
import type { World } from "../world.ts";
import { type Managed, pathOf } from "./kind.ts";
import type { Row } from "./life.ts";
import { stampsOf, urnOf } from "./service.ts";

/** One as calls see it; `told` is what only this answer says. */
export function shown<F>(world: World, kind: Managed<F>, call: Call, row: Row<F>, told: object = {}) {
  const { host, type, path } = kind;
  const metadata = kind.metadata(world, row);
  return {
    id: row.id,
    type,
    href: `${call.origin}/${host.path}${pathOf(path, metadata)}/${row.id}`,
    metadata: {
      ...stampsOf(world, call, row),
      resourceURN: urnOf(world, host, type, row.id),
      ...metadata,
      ...(row.state === "FAILED" && { statusMessage: row.failure }),
    },
    properties: { ...kind.properties(row), ...told },
  };
}

/** A page of a list, oldest first. */
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
  const body = {
    id: path.slice(1),
    type: "collection",
    href,
    items: items.slice(offset, offset + limit).map(show),
    offset,
    limit,
    _links: pageLinks(call, href, offset, limit, items.length),
  };
  return { status: 200, body };
}

/** What steering shows of one kind: nothing that only its creation tells. */
export const managedState = <F>(world: World, kind: Managed<F>) =>
  [...kind.table(world).values()].map((row) => ({
    id: row.id,
    type: kind.type,
    state: row.state,
    failure: row.failure,
    visible: isVisible(row, world.clock.now()),
    createdDate: timestamp(row.createdAt),
    createdByUserId: row.createdBy,
    properties: kind.properties(row),
  }));
