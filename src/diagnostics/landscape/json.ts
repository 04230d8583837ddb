export type Json = Readonly<Record<string, unknown>>;

export const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const asJson = (value: unknown): Json => (isJson(value) ? value : {});
export const asList = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

/** The value at a path such as `connections[0].lanId`. */
export const at = (value: Json, path: string): unknown =>
  path
    .split(/[.[\]]+/)
    .filter((step) => step !== "")
    .reduce<unknown>((found, step) => (Array.isArray(found) ? found[Number(step)] : asJson(found)[step]), value);
