import { z } from "zod";
import { NotFound } from "../answers/errors.ts";
import { openRoom } from "../answers/memory-budget.ts";
import { plainText } from "../answers/plain-text.ts";
import type { Connection } from "../calls/connection.ts";
import { keptItem, sizeOf } from "../collections/kept-item.ts";
import { type CollectionSource, type Item, resourceId } from "../collections/reading.ts";
import { createDurationsByPath, type UsualDurations } from "../collections/usual-durations.ts";
import { inTurn } from "../pace/list-turns.ts";
import { checked, onlyId, readPages, withQuery } from "./paging.ts";

const resource = z.looseObject({
  id: resourceId,
  metadata: z
    .looseObject({
      state: z.string().nullish(),
      status: z.string().nullish(),
      statusMessage: z.string().nullish(),
      message: z.string().nullish(),
    })
    .nullish(),
  properties: z.looseObject({ status: z.string().nullish() }).nullish().catch(undefined),
});

/**
 * How long a list may wait for its turn: thousands of collections may be listed for the first time at once. No worker waits for
 * a list, except with priority `people`.
 */
const LIST_PATIENCE_MS = 300_000;

export interface ResourceCollectionOptions {
  /** Sent with every read, so that a single read has the same shape as the list. */
  query: Record<string, string>;
  isBusy(state: string | undefined): boolean;
  product: string;
  /** The maximum number of items per page. */
  pageSize?: number;
  /** Returns the part of an item that is kept; default: all of it. */
  keep?: ((item: unknown) => unknown) | undefined;
}

const durations = new WeakMap<Connection, ReturnType<typeof createDurationsByPath>>();

/** The usual durations at a URL, which live as long as the connection. */
function durationsAt(connection: Connection, url: string): UsualDurations {
  const known = durations.get(connection) ?? createDurationsByPath();
  durations.set(connection, known);
  return known(url);
}

/** A collection of any product at this URL: items with id, metadata and properties. */
export function resourceCollection(
  connection: Connection,
  url: string,
  { query, isBusy, product, pageSize = 1_000, keep = (item) => item }: ResourceCollectionOptions,
): CollectionSource {
  const itemOf = (raw: unknown, from: string): Item => {
    const { id, metadata, properties } = checked(resource, raw, from);
    const state = metadata?.state ?? metadata?.status ?? properties?.status ?? undefined;
    return keptItem({ id, state: state && plainText(state, 64), raw: keep(raw) });
  };
  const size = { items: pageSize };
  const room = openRoom(connection.memory, connection.id);
  return {
    key: `${connection.id} ${url}`,
    durations: durationsAt(connection, url),
    list(signal, priority) {
      const options = { signal, priority, product, ...(priority !== "people" && { patienceMs: LIST_PATIENCE_MS }) };
      const read = () => readPages(connection, url, query, size, options, (raw) => itemOf(raw, url), { room, sizeOf });
      return priority === "people" ? read() : inTurn(connection, new URL(url).host, signal, read);
    },
    async get(id, signal) {
      const isOnly = id === onlyId(url);
      const itemUrl = withQuery(isOnly ? url : `${url}/${encodeURIComponent(id)}`, query);
      try {
        const { body } = await connection.send({ method: "GET", url: itemUrl, product, signal });
        return itemOf(isOnly ? { id, ...Object(body) } : body, itemUrl);
      } catch (error) {
        if (error instanceof NotFound) return undefined;
        throw error;
      }
    },
    close: () => room.close(),
    isBusy: ({ state }) => isBusy(state),
    failure({ state, raw }) {
      // FAILED_UPDATING and similar states are failures too.
      if (!state?.toUpperCase().startsWith("FAILED")) return undefined;
      const { statusMessage, message } = checked(resource, raw, url).metadata ?? {};
      return plainText(statusMessage ?? message ?? "the platform gave no reason");
    },
  };
}
