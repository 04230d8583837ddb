import { z } from "zod";
import type { Effects } from "../http/effects.ts";

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
