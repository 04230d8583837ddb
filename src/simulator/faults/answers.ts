import { z } from "zod";
import { etagOf } from "../core/kind/listing.ts";
import { kindOf } from "../core/table.ts";
import type { Alteration, Effects } from "../http/effects.ts";
import { type Reply, type Route, requestIn } from "../http/exchange.ts";
import { missing } from "../http/refusal.ts";
import type { World } from "../world.ts";

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The body of an answer with the alterations made to its resource or, where it is a list, to each item. */
export function alter(body: unknown, alterations: readonly Alteration[]): unknown {
  if (alterations.length === 0 || !isFields(body)) return body;
  const copy: Fields = structuredClone(body);
  const shown = Array.isArray(copy.items) ? copy.items.filter(isFields) : [copy];
  for (const { id, set, remove } of alterations) {
    for (const each of shown.filter((item) => id === undefined || item.id === id)) {
      for (const [path, value] of Object.entries(set)) put(each, path, value);
      for (const path of remove) put(each, path, undefined);
    }
  }
  return copy;
}

/** Sets a field; undefined removes it. A path through a field that does not exist changes nothing. */
function put(item: Fields, path: string, value: unknown): void {
  const names = path.split(".");
  const last = names.pop() ?? "";
  let holder: unknown = item;
  for (const name of names) holder = isFields(holder) ? holder[name] : undefined;
  if (isFields(holder)) holder[last] = value;
}

const collection = z.looseObject({ items: z.array(z.looseObject({})) });
const resource = z.looseObject({ entities: z.record(z.string(), z.looseObject({})) });

/** The body of a deep read without what `leavesOut` names, in a single resource and in each item of a list. */
export function shallower(body: unknown, leavesOut: NonNullable<Effects["shallow"]>): unknown {
  const list = collection.safeParse(body);
  if (list.success) return { ...list.data, items: list.data.items.map((item) => shallower(item, leavesOut)) };
  const single = resource.safeParse(body);
  if (!single.success) return body;
  const { entities, ...rest } = single.data;
  if (leavesOut === "entities") return rest;
  const references = Object.entries(entities).map(([name, each]) => [name, referencesOnly(each)]);
  return { ...rest, entities: Object.fromEntries(references) };
}

function referencesOnly(entity: object): object {
  const list = collection.safeParse(entity);
  if (!list.success) return entity;
  return { ...list.data, items: list.data.items.map(({ id, type, href }) => ({ id, type, href })) };
}

const page = z.looseObject({
  items: z.array(z.unknown()),
  offset: z.number().default(0),
  _links: z.looseObject({}).optional(),
});
const tokens = z.strictObject({ tokens: z.array(z.unknown()) });
const member = z.looseObject({ id: z.string() });

/** The answer with its list cut after `mostListed` items. With `noMembers`, throws 404 for a read by id. */
export function emptied(reply: Reply, { template }: Route, { mostListed, noMembers }: Effects): Reply {
  if (mostListed === null) return reply;
  const list = page.safeParse(reply.body);
  if (list.success) return { ...reply, ...shortened(reply, list.data, mostListed) };
  const ofTokens = tokens.safeParse(reply.body);
  if (ofTokens.success) return { ...reply, body: { tokens: ofTokens.data.tokens.slice(0, mostListed) } };
  if (noMembers && template.endsWith("}") && member.safeParse(reply.body).success) throw missing();
  return reply;
}

/** Cuts a page so that the whole list ends after `most` items, on whichever page that is. */
function shortened({ body, headers = {} }: Reply, list: z.infer<typeof page>, most: number): Partial<Reply> {
  const remaining = Math.max(0, most - list.offset);
  if (list.items.length < remaining) return {};
  const items = list.items.slice(0, remaining);
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

/** Tables that are not undone: they show that the call was accepted. */
const kept = new Set(["requests", "activity", "counters"]);

/**
 * Undoes the changes of a call; its request still ends DONE. Until then its targets are BUSY and otherwise unchanged.
 * Inside the transaction of the call.
 */
export function takeBack(world: World, reply: Reply): void {
  world.documents.takeBack((table) => !kept.has(table.split("/").at(-1) ?? ""));
  const record = world.requests.get(requestIn(reply) ?? "");
  if (record?.status !== "BUSY") return;
  const targets = record.targets.flatMap(({ key }) => world.resources.get(key) ?? []);
  for (const each of targets) {
    world.resources.put({ ...each, state: "BUSY", shownState: kindOf(each.type).states?.update });
  }
  const settle = targets.map(({ key }) => ({ op: "settle" as const, key }));
  world.requests.put(record.id, { ...record, onDone: settle, onFailed: settle });
}
