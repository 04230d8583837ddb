import { z } from "zod";

type Schema = z.core.$ZodType;

/**
 * The value without the empty texts in optional fields of the schema, at any depth: the platform's own clients send a text
 * that is not set as "". In a required field an empty text stays.
 */
export function withoutEmptyText(schema: Schema | undefined, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return withoutEmptyText(schema.unwrap(), value);
  }
  if (schema instanceof z.ZodPipe) return withoutEmptyText(schema.in, value);
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((each) => withoutEmptyText(schema.element, each));
  }
  if (schema instanceof z.ZodUnion) {
    const read = schema.options.map((option) => ({ option, value: withoutEmptyText(option, value) }));
    return (read.find((each) => z.safeParse(each.option, each.value).success) ?? { value }).value;
  }
  if (!(schema instanceof z.ZodObject) || typeof value !== "object" || value === null || Array.isArray(value))
    return value;
  const { shape }: { shape: Readonly<Record<string, Schema>> } = schema;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, each]) => each !== "" || shape[name]?._zod.optin !== "optional")
      .map(([name, each]) => [name, withoutEmptyText(shape[name], each)]),
  );
}
