import { z } from "zod";

type Prune = (value: unknown) => unknown;

/** Metadata that is kept of every item: state, messages, creator and creation time. */
const METADATA = ["state", "status", "statusMessage", "message", "createdDate", "createdByUserId"];

/**
 * Reduces a listed item to the fields of a schema and the metadata that the engine reads. It validates nothing: a value
 * of an unexpected form stays unchanged, and the schema refuses it later. A loose object stays complete.
 */
export function readsOf(schema: z.ZodObject): Prune {
  const prune = pruner(schema);
  const { metadata } = schema.shape;
  const prunedMetadata = metadata instanceof z.ZodType ? pruner(metadata) : () => ({});
  return (item) => {
    const pruned = prune(item);
    const found: unknown = isRecord(item) ? item.metadata : undefined;
    if (pruned === item || !isRecord(pruned) || found === undefined) return pruned;
    if (!isRecord(found)) return { ...pruned, metadata: found };
    return { ...pruned, metadata: { ...Object(prunedMetadata(found)), ...pick(found, METADATA) } };
  };
}

function pruner(schema: unknown): Prune {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return pruner(schema.unwrap());
  if (schema instanceof z.ZodArray) {
    const prune = pruner(schema.element);
    return (value) => (Array.isArray(value) ? value.map(prune) : value);
  }
  if (!(schema instanceof z.ZodObject) || schema.def.catchall) return (value) => value;
  const fields = Object.entries(schema.shape).map(([name, field]) => [name, pruner(field)] as const);
  return (value) => {
    if (!isRecord(value)) return value;
    const kept: Record<string, unknown> = {};
    for (const [name, prune] of fields) if (value[name] !== undefined) kept[name] = prune(value[name]);
    return kept;
  };
}

const pick = (from: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])));

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
