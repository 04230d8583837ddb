import { z } from "zod";
import type { CollectionSource, Item } from "../collections/reading.ts";
import { type RequestLog, shareRequestLog } from "./request-log.ts";
import { type LoggedRequest, mayBeSince } from "./requests.ts";

const stamped = z.looseObject({
  metadata: z.looseObject({ createdDate: z.string().nullish(), createdByUserId: z.string().nullish() }).nullish(),
});

/**
 * For products without a request log: each resource in a collection stands for its creation, with the resource itself as the
 * body.
 */
export function shownAsLog(source: CollectionSource): RequestLog {
  return shareRequestLog(
    async (createdAfter) => {
      // Priority `people`, because a worker waits for this list.
      const items = await source.list(AbortSignal.timeout(LIST_MS), "people");
      return items.map(asRequest).filter(mayBeSince(createdAfter));
    },
    async (id, signal) => source.get?.(id, signal),
  );
}

const LIST_MS = 30_000;

const stampOf = ({ raw }: Item) => stamped.safeParse(raw).data?.metadata;

/** NaN without a date that can be read: the item may be from any time. */
const bornAt = (item: Item): number => Date.parse(stampOf(item)?.createdDate ?? "");

function asRequest(item: Item): LoggedRequest {
  const { id, raw } = item;
  const createdByUserId = stampOf(item)?.createdByUserId;
  return {
    id,
    method: "POST",
    url: "",
    body: JSON.stringify(raw),
    createdAt: bornAt(item),
    status: "DONE",
    targets: [{ id }],
    ...(createdByUserId != null && { createdByUserId }),
  };
}
