import { z } from "zod";
import type { PlatformCall } from "./call.ts";
import type { Connection } from "./connection.ts";
import { Retry } from "./errors.ts";

/** How a read is sent. */
export type ReadOptions = Pick<PlatformCall, "signal" | "priority" | "patienceMs">;

const identified = z.looseObject({ id: z.string().min(1) });

const pageShape = z.looseObject({
  items: z.array(identified).nullish(),
  limit: z.number().nullish(),
  _links: z.looseObject({ next: z.string().nullish() }).nullish(),
});

/**
 * All items of a list, each id once, over as many pages as there are. A page shorter than the limit is the last. The
 * limit is the one that the answer names, because the platform may cut ours; a list that ignores paging ends when a
 * page brings nothing new.
 */
export async function readPages<T>(
  connection: Connection,
  url: string,
  query: Record<string, string>,
  limit: number,
  options: ReadOptions,
  read: (item: unknown) => T,
): Promise<T[]> {
  const found = new Map<string, T>();
  for (let offset = 0; ; ) {
    const pageUrl = withQuery(url, { ...query, offset: String(offset), limit: String(limit) });
    const { body } = await connection.send({ method: "GET", url: pageUrl, ...options });
    const page = checked(pageShape, body, pageUrl);
    const items = page.items ?? [];
    const before = found.size;
    for (const item of items) found.set(item.id, read(item));
    offset += items.length;
    const full = items.length >= (page.limit ?? limit) || (page._links?.next ?? "") !== "";
    if (!full || found.size === before) return [...found.values()];
  }
}

export function withQuery(url: string, query: Record<string, string>): string {
  return `${url}?${new URLSearchParams(query)}`;
}

/** An answer in the form that is relied on. Anything else is trouble that may pass, named by the place where it differs. */
export function checked<Shape extends z.ZodType>(shape: Shape, body: unknown, url: string): z.output<Shape> {
  const parsed = shape.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const detail = `unexpected body: ${issue?.path.join(".") || "the whole"}: ${issue?.message ?? "invalid"}`;
  throw new Retry({ call: `GET ${new URL(url).pathname}`, status: 200, detail, cause: parsed.error }, "no");
}
