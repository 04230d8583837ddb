import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { canonicalWithoutEmpty } from "./hash.ts";
import { createLru, LONGEST_KEPT } from "./lru.ts";

/** `ours`: signed with one of our keys. `absent`: no valid signature. `foreign`: signed with a key that is not here. */
export type Verdict = "ours" | "absent" | "foreign";

/** Signs data and verifies signatures. Null, empty objects and empty arrays do not count, because a JSON store may drop them. */
export interface Signer {
  sign(data: unknown): string;
  judge(data: unknown, signature: string): Verdict;
  /** Whether a valid signature was made with the key that signs now. */
  isCurrent(signature: unknown): boolean;
}

/** The API server answers each write with what was signed for it, and the next version of the object repeats most of it. */
const MOST_MACS = 512;

/** The first key signs; signatures of all keys are valid. The keys are read each time, because they can be rotated. */
export function createSigner(keys: () => readonly string[]): Signer {
  /** The texts that were signed or verified lately, by signature. */
  const recent = createLru<string>(MOST_MACS);
  const signatureOf = (key: string, text: string) => {
    const mac = createHmac("sha256", key).update(text).digest("base64url");
    const signature = `${nameOf(key)}.${mac}`;
    if (text.length <= LONGEST_KEPT) recent.set(signature, text);
    return signature;
  };
  return {
    sign(data) {
      const [key] = keys();
      if (key === undefined) throw new Error("there is no signing key");
      return signatureOf(key, canonicalWithoutEmpty(data));
    },
    isCurrent: (signature) => typeof signature === "string" && signature.startsWith(`${nameOf(keys()[0] ?? "")}.`),
    judge(data, signature) {
      const [name = "", mac = ""] = signature.split(".");
      const key = keys().find((each) => nameOf(each) === name);
      if (key === undefined) return /^[0-9a-f]{8}$/.test(name) && mac !== "" ? "foreign" : "absent";
      const text = canonicalWithoutEmpty(data);
      if (recent.get(signature) === text) return "ours";
      const [given, expected] = [Buffer.from(signature), Buffer.from(signatureOf(key, text))];
      return given.length === expected.length && timingSafeEqual(given, expected) ? "ours" : "absent";
    },
  };
}

const names = new Map<string, string>();
const MOST_NAMES = 16;

/** A public name for a key that does not reveal it. Cached: it is needed for every object, and there are few keys. */
function nameOf(key: string): string {
  const name = names.get(key) ?? createHash("sha256").update(`name of ${key}`).digest("hex").slice(0, 8);
  if (names.size >= MOST_NAMES) names.clear();
  names.set(key, name);
  return name;
}

/** Whether a field has no content to sign. */
export const isVoid = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);
