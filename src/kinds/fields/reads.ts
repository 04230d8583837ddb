import { z } from "zod";

type Prune = (value: unknown) => unknown;

/** What every item keeps of its metadata, whatever its kind reads: how it is, who made it, and when. */
const METADATA = ["state", "status", "statusMessage", "message", "createdDate", "createdByUserId"];

/**
 * Leaves of a listed item what a schema would leave, and its metadata as far as the engine reads it. It judges nothing: what is
 * not of the expected form stays as it is, for the schema to refuse. A loose object stays whole.
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
