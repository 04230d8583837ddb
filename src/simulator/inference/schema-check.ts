export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isFields,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
};

type Rule = (limit: never, value: unknown, accepts: (schema: unknown, value: unknown) => boolean) => boolean;
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
const ofNumber = (fits: (value: number, limit: number) => boolean) => (limit: number, value: unknown) =>
  typeof value !== "number" || fits(value, limit);
const ofText = (fits: (value: string, limit: number) => boolean) => (limit: number, value: unknown) =>
  typeof value !== "string" || fits(value, limit);
const ofList = (fits: (value: unknown[], limit: number) => boolean) => (limit: number, value: unknown) =>
  !Array.isArray(value) || fits(value, limit);

const rules: Readonly<Record<string, Rule>> = {
  type: (limit: string | string[], value) => [limit].flat().some((each) => types[each]?.(value) ?? false),
  const: (limit: unknown, value) => same(limit, value),
  enum: (limit: unknown[], value) => limit.some((each) => same(each, value)),
  minimum: ofNumber((value, limit) => value >= limit),
  maximum: ofNumber((value, limit) => value <= limit),
  exclusiveMinimum: ofNumber((value, limit) => value > limit),
  exclusiveMaximum: ofNumber((value, limit) => value < limit),
  multipleOf: ofNumber((value, limit) => Number.isInteger(value / limit)),
  minLength: ofText((value, limit) => value.length >= limit),
  maxLength: ofText((value, limit) => value.length <= limit),
  pattern: (limit: string, value) => typeof value !== "string" || new RegExp(limit, "u").test(value),
  minItems: ofList((value, limit) => value.length >= limit),
  maxItems: ofList((value, limit) => value.length <= limit),
  items: (limit: unknown, value, accepts) => !Array.isArray(value) || value.every((each) => accepts(limit, each)),
  required: (limit: string[], value) => !isFields(value) || limit.every((name) => name in value),
  properties: (limit: Fields, value, accepts) =>
    !isFields(value) || Object.entries(limit).every(([name, each]) => !(name in value) || accepts(each, value[name])),
  allOf: (limit: unknown[], value, accepts) => limit.every((each) => accepts(each, value)),
  anyOf: (limit: unknown[], value, accepts) => limit.some((each) => accepts(each, value)),
  oneOf: (limit: unknown[], value, accepts) => limit.filter((each) => accepts(each, value)).length === 1,
  not: (limit: unknown, value, accepts) => !accepts(limit, value),
};

/** Whether a schema allows a value, as far as its keywords are known here. */
export function createCheck(resolve: (reference: string) => unknown): (schema: unknown, value: unknown) => boolean {
  const accepts = (schema: unknown, value: unknown): boolean => {
    if (typeof schema === "boolean") return schema;
    if (!isFields(schema)) return true;
    if (typeof schema.$ref === "string" && !accepts(resolve(schema.$ref), value)) return false;
    return Object.entries(schema).every(([name, limit]) => rules[name]?.(limit as never, value, accepts) ?? true);
  };
  return accepts;
}

/** Keywords of which the larger of two values holds, and those of which the smaller does. */
const larger = new Set(["minimum", "exclusiveMinimum", "minLength", "minItems"]);
const smaller = new Set(["maximum", "exclusiveMaximum", "maxLength", "maxItems"]);

/** One schema in the place of several that must all hold. */
export function merged(schemas: readonly Fields[]): Fields {
  const all: Record<string, unknown> = {};
  for (const schema of schemas) {
    for (const [name, value] of Object.entries(schema)) {
      const before = all[name];
      all[name] = before === undefined ? value : both(name, before, value);
    }
  }
  return all;
}

function both(name: string, a: unknown, b: unknown): unknown {
  if (larger.has(name)) return Math.max(Number(a), Number(b));
  if (smaller.has(name)) return Math.min(Number(a), Number(b));
  if (name === "required") return [...new Set([a, b].flat())];
  if (name === "enum" && Array.isArray(a) && Array.isArray(b))
    return a.filter((each) => b.some((other) => same(each, other)));
  if (name === "not") return { anyOf: [a, b] };
  if (name === "properties" && isFields(a) && isFields(b)) {
    const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    const of = (each: string) => [a[each], b[each]].filter(isFields);
    return Object.fromEntries(
      names.map((each) => [each, of(each).length > 1 ? { allOf: of(each) } : (of(each)[0] ?? true)]),
    );
  }
  return b;
}
