import { z } from "zod";
import { systemClock } from "../../runtime/clock.ts";
import { withoutTrailing } from "../../runtime/text.ts";
import { yieldIfDue } from "../../runtime/time-slices.ts";
import { Retry } from "../answers/errors.ts";
import { exceedsLimit, inBytes, inFigures, LimitExceeded, limits } from "../answers/limits.ts";
import { openRoom, type Room } from "../answers/memory-budget.ts";
import type { PlatformCall } from "../calls/call.ts";
import type { Connection } from "../calls/connection.ts";
import { startDeadline } from "../calls/deadline.ts";
import { PartialList, resourceId } from "../collections/reading.ts";

export type ReadOptions = Pick<PlatformCall, "signal" | "priority" | "patienceMs" | "product">;

/** The number of items per page; reduced for good when a page is too large. */
export interface PageSize {
  items: number;
}

const smallestPage = 50;

const identified = z.looseObject({ id: resourceId });

/** The id of the only member of a collection without a list: the last part of its path. */
export const onlyId = (url: string): string => withoutTrailing(new URL(url).pathname, "/").split("/").at(-1) ?? "";

const pageShape = z.looseObject({
  properties: z.looseObject({}).nullish(),
  items: z.array(z.unknown()).nullish(),
  limit: z.number().nullish(),
  _links: z.looseObject({ next: z.string().nullish() }).nullish(),
});

/** The memory of a kept list, and the size of an item in it. */
export interface Kept<T> {
  readonly room: Room;
  sizeOf(item: T): number;
}

/**
 * All items of a list, each id once, over all pages. A page shorter than the limit is the last one. The limit is the one in the
 * answer, because the platform may lower ours. A list that ignores paging ends when a page has nothing new; one that never ends
 * fails (see `limits`). A list with invalid items fails with a `PartialList` of the valid ones. The memory of the list is counted
 * until it is read or, with `kept`, until its room is closed.
 */
export async function readPages<T>(
  connection: Connection,
  url: string,
  query: Record<string, string>,
  size: PageSize,
  options: ReadOptions,
  read: (item: unknown) => T,
  kept?: Kept<T>,
): Promise<T[]> {
  const room = kept?.room ?? openRoom(connection.memory, connection.id);
  let isKept = false;
  try {
    const all = await inTime(connection, options, (timed) =>
      readAll(connection, url, query, size, timed, read, room, kept?.sizeOf),
    );
    isKept = kept !== undefined;
    return all;
  } catch (error) {
    isKept = kept !== undefined && error instanceof PartialList;
    throw error;
  } finally {
    room.end(isKept);
  }
}

/** Runs several reads, such as the pages of a list, under one deadline. */
export async function inTime<T>(
  { clock = systemClock }: Connection,
  options: ReadOptions,
  perform: (options: ReadOptions) => Promise<T>,
): Promise<T> {
  const ms = limits.listMs + (options.patienceMs ?? 0);
  const signals = options.signal ? [options.signal] : [];
  using deadline = startDeadline(clock, ms, signals, { missed: "the list was not complete" });
  return await perform({ ...options, signal: deadline.signal });
}

async function readAll<T>(
  connection: Connection,
  url: string,
  query: Record<string, string>,
  size: PageSize,
  options: ReadOptions,
  read: (item: unknown) => T,
  room: Room,
  sizeOf?: (item: T) => number,
): Promise<T[]> {
  const { clock = systemClock } = connection;
  const found = new Map<string, T>();
  const invalid: Unexpected[] = [];
  const failure = { call: `GET ${new URL(url).pathname}`, status: 200 };
  const limitError = (detail: string, cause = new LimitExceeded(detail)) =>
    new Retry({ ...failure, detail, cause }, "no");
  let bytes = 0;
  for (let pages = 0, offset = 0; ; pages++) {
    if (pages === limits.pages) throw limitError(`the list has more than ${inFigures(pages)} pages`);
    const pageUrl = withQuery(url, { ...query, offset: String(offset), limit: String(size.items) });
    const sending = connection.send({ method: "GET", url: pageUrl, ...options });
    const reply = await sending.catch(shrinkIfTooLarge(size));
    if (reply === undefined) continue;
    bytes += reply.bytes ?? 0;
    if (bytes > limits.listBytes) throw limitError(`the list is larger than ${inBytes(limits.listBytes)}`);
    try {
      room.take(reply.bytes ?? 0);
    } catch (error) {
      throw error instanceof LimitExceeded ? limitError(error.message, error) : error;
    }
    const page = checked(pageShape, reply.body, pageUrl);
    const items = page.items ?? (page.properties ? [{ id: onlyId(url), ...page }] : []);
    const before = found.size;
    if (before + items.length > limits.items)
      throw limitError(`the list has more than ${inFigures(limits.items)} items`);
    let keptBytes = 0;
    for (const [index, item] of items.entries()) {
      try {
        const { id } = checked(identified, item, pageUrl, `items.${index}`);
        const one = read(item);
        found.set(id, one);
        keptBytes += sizeOf?.(one) ?? 0;
      } catch (error) {
        if (!(error instanceof Unexpected)) throw error;
        invalid.push(error);
      }
      const pause = yieldIfDue(clock);
      if (pause) await pause;
    }
    if (sizeOf) room.shed((reply.bytes ?? 0) - keptBytes);
    offset += items.length;
    const full = items.length >= (page.limit ?? size.items) || (page._links?.next ?? "") !== "";
    if (full && found.size > before) continue;
    const [first] = invalid;
    if (first === undefined) return [...found.values()];
    const count = invalid.length === 1 ? "an invalid item" : `${inFigures(invalid.length)} invalid items`;
    const detail = `${first.detail}; the list has ${count}, so nothing counts as gone`;
    throw new PartialList({ ...failure, detail, cause: first }, [...found.values()]);
  }
}

/** Handles a failed page: reduces the page size if the page was too large, so that it is read again; else throws. */
function shrinkIfTooLarge(size: PageSize): (error: unknown) => undefined {
  return (error) => {
    if (!exceedsLimit(error) || size.items <= smallestPage) throw error;
    size.items = Math.max(smallestPage, Math.floor(size.items / 4));
  };
}

export function withQuery(url: string, query: Record<string, string>): string {
  return `${url}?${new URLSearchParams(query)}`;
}

class Unexpected extends Retry {
  readonly detail: string;
  constructor(url: string, detail: string, cause: Error) {
    super({ call: `GET ${new URL(url).pathname}`, status: 200, detail, cause }, "no");
    this.detail = detail;
  }
}

/** Validates an answer. An invalid one is a temporary failure, whose message names the field; `prefix` is the path before it. */
export function checked<Shape extends z.ZodType>(
  shape: Shape,
  body: unknown,
  url: string,
  prefix?: string,
): z.output<Shape> {
  const parsed = shape.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const where = [...(prefix === undefined ? [] : [prefix]), ...(issue?.path ?? [])].join(".");
  const detail = ["unexpected body", ...(where ? [where] : []), issue?.message ?? "invalid"].join(": ");
  throw new Unexpected(url, detail, parsed.error);
}
