import { createHash } from "node:crypto";
import type { Call, Reply } from "../../http/exchange.ts";
import { errorCode, missing, refusal } from "../../http/refusal.ts";

/** One item of a collection, rendered only as far as the call asks for it. */
export interface Listed {
  createdAt: number;
  etag: string;
  reference(): object;
  metadata(): Readonly<Record<string, unknown>>;
  properties(): Readonly<Record<string, unknown>>;
  full(depth: number): object;
}

export interface Listing {
  /** The path tail, e.g. `<dcId>/servers`. */
  id: string;
  href: string;
  paged: boolean;
  items: Listed[];
  /** Answers filters that are more than "contains", also at depth 0; undefined: an ordinary filter. */
  special?(name: string, values: string[]): ((item: Listed) => boolean) | undefined;
}

/** A whole number from the query, within bounds, or the default. */
export function wholeNumber(call: Call, name: string, low: number, high: number, fallback: number): number {
  const text = call.query.get(name);
  if (text === null || text === "") return fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < low || value > high) {
    throw refusal(422, errorCode.validation, `[${name}] must be a whole number from ${low} to ${high}`);
  }
  return value;
}

export const depthOf = (call: Call) => wholeNumber(call, "depth", 0, 10, 0);

/** Answers a GET on a collection: filters, order, page, depth. */
export function listReply(call: Call, listing: Listing): Reply {
  const depth = depthOf(call);
  let items = filtered(call, listing, depth);
  const orderBy = call.query.get("orderBy");
  if (orderBy !== null && orderBy !== "") items = ordered(items, orderBy);
  items = items.slice(0, wholeNumber(call, "maxResults", 1, 100_000_000, items.length));
  const body: Record<string, unknown> = { id: listing.id, type: "collection", href: listing.href };
  if (listing.paged) {
    const offset = wholeNumber(call, "offset", 0, Number.MAX_SAFE_INTEGER, 0);
    const limit = wholeNumber(call, "limit", 1, 10_000, 1000);
    Object.assign(body, { offset, limit, _links: pageLinks(call, listing.href, offset, limit, items.length) });
    items = items.slice(offset, offset + limit);
  }
  body.items = items.map((item) => (depth === 0 ? item.reference() : item.full(depth)));
  const headers: Record<string, string> = {};
  if (!call.query.has("depth")) headers.ETag = etagOf(items.map((item) => item.etag).join());
  return { status: 200, headers, body };
}

/** Answers a GET on one thing that is shown like the items of a list; 404 when there is none. */
export function oneReply(call: Call, item: Listed | undefined): Reply {
  if (item === undefined) throw missing();
  return {
    status: 200,
    headers: call.query.has("depth") ? {} : { ETag: item.etag },
    body: item.full(depthOf(call)),
  };
}

export function etagOf(text: string): string {
  return createHash("md5").update(text).digest("hex");
}

/** Where this page is, and those before and after it. */
export function pageLinks(call: Call, href: string, offset: number, limit: number, total: number) {
  const page = (at: number) => {
    const query = new URLSearchParams(call.query);
    query.set("offset", String(at));
    query.set("limit", String(limit));
    return `${href}?${query}`;
  };
  return {
    ...(offset > 0 && { prev: page(Math.max(0, offset - limit)) }),
    self: page(offset),
    ...(offset + limit < total && { next: page(offset + limit) }),
  };
}

/** All filters must match. A filter with several values matches if any of them does. */
function filtered(call: Call, listing: Listing, depth: number): Listed[] {
  let { items } = listing;
  for (const parameter of new Set(call.query.keys())) {
    if (!parameter.startsWith("filter.")) continue;
    const name = parameter.slice("filter.".length);
    const values = call.query.getAll(parameter);
    const special = listing.special?.(name, values);
    if (special !== undefined) items = items.filter(special);
    // The platform does not look into properties that the depth leaves out.
    else if (depth > 0) items = items.filter((item) => contains(filterValue(item, name), values));
  }
  return items;
}

function filterValue(item: Listed, name: string): unknown {
  if (name.startsWith("properties.")) return item.properties()[name.slice("properties.".length)];
  if (name.startsWith("metadata.")) return item.metadata()[name.slice("metadata.".length)];
  return item.properties()[name] ?? item.metadata()[name];
}

function contains(value: unknown, wanted: string[]): boolean {
  if (value === undefined || value === null) return false;
  if (Array.isArray(value)) return value.some((each) => contains(each, wanted));
  const text = (typeof value === "object" ? JSON.stringify(value) : String(value)).toLowerCase();
  return wanted.some((each) => text.includes(each.toLowerCase()));
}

function ordered(items: Listed[], property: string): Listed[] {
  const keyed = items.map((item) => ({ item, value: filterValue(item, property) }));
  keyed.sort((a, b) => compare(a.value, b.value));
  return keyed.map(({ item }) => item);
}

/** Numbers by size, everything else as text. */
export function compare(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [left, right] = [String(a ?? ""), String(b ?? "")];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
