import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { canonical } from "./hash.ts";

/** Whether words are ours: by one of the keys, by none, or by a key that is not here. */
export type Verdict = "ours" | "absent" | "foreign";

/** Signs words, and tells whose they are. What a JSON store may leave out, nothing and emptiness, makes no difference. */
export interface Signer {
  sign(words: unknown): string;
  judge(words: unknown, signature: string): Verdict;
}

/** The first of the keys signs, all of them count. They are asked for each time: they may be exchanged. */
export function createSigner(keys: () => readonly string[]): Signer {
  const macOf = (key: string, words: unknown) =>
    createHmac("sha256", key)
      .update(canonical(withoutVoid(words)))
      .digest("base64url");
  return {
    sign(words) {
      const [key = ""] = keys();
      return `${nameOf(key)}.${macOf(key, words)}`;
    },
    judge(words, signature) {
      const [name = "", mac = ""] = signature.split(".");
      const key = keys().find((each) => nameOf(each) === name);
      if (key === undefined) return /^[0-9a-f]{8}$/.test(name) && mac !== "" ? "foreign" : "absent";
      const [given, expected] = [Buffer.from(mac), Buffer.from(macOf(key, words))];
      return given.length === expected.length && timingSafeEqual(given, expected) ? "ours" : "absent";
    },
  };
}

/** Tells keys apart and gives none away. */
const nameOf = (key: string): string => createHash("sha256").update(`name of ${key}`).digest("hex").slice(0, 8);

function withoutVoid(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutVoid);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, child]) => [name, withoutVoid(child)] as const);
  return Object.fromEntries(entries.filter(([, child]) => !isVoid(child)));
}

export const isVoid = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);
