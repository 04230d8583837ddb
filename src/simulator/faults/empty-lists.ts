import { z } from "zod";
import { etagOf } from "../core/kind/listing.ts";
import type { Effects } from "../http/effects.ts";
import type { Reply, Route } from "../http/exchange.ts";
import { missing } from "../http/refusal.ts";

const page = z.looseObject({
  items: z.array(z.unknown()),
  offset: z.number().default(0),
  _links: z.looseObject({}).optional(),
});
const tokens = z.strictObject({ tokens: z.array(z.unknown()) });
const member = z.looseObject({ id: z.string() });

/** The answer to a read of which lists show the first items only. Throws 404 where no single member is to be found. */
export function emptied(reply: Reply, { template }: Route, { mostListed, noMembers }: Effects): Reply {
  if (mostListed === null) return reply;
  const list = page.safeParse(reply.body);
  if (list.success) return { ...reply, ...shortened(reply, list.data, mostListed) };
  const ofTokens = tokens.safeParse(reply.body);
  if (ofTokens.success) return { ...reply, body: { tokens: ofTokens.data.tokens.slice(0, mostListed) } };
  if (noMembers && template.endsWith("}") && member.safeParse(reply.body).success) throw missing();
  return reply;
}

/** The list ends after so many items, on whichever page that is. */
function shortened({ body, headers = {} }: Reply, list: z.infer<typeof page>, most: number): Partial<Reply> {
  const left = Math.max(0, most - list.offset);
  if (list.items.length < left) return {};
  const items = list.items.slice(0, left);
  const { next, ...links } = list._links ?? {};
  const isLast = list.offset + items.length >= most;
  return {
    body: {
      ...Object(body),
      items,
      ...(list._links !== undefined && { _links: isLast || next === undefined ? links : { ...links, next } }),
    },
    headers: { ...headers, ...(headers.ETag !== undefined && { ETag: etagOf(JSON.stringify(items)) }) },
  };
}
