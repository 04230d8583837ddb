export const SECRETS = { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true };

/** The decoded value of a key; undefined when there is none. */
export function secretValue(secret: object, key: string): string | undefined {
  const data: unknown = Reflect.get(secret, "data");
  if (typeof data !== "object" || data === null || !Object.hasOwn(data, key)) return undefined;
  const value: unknown = Reflect.get(data, key);
  return typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : undefined;
}
