import { hash } from "node:crypto";
import type { Clock } from "../../clock.ts";
import { createLru } from "./lru.ts";

/** What is taken away ends after the first, what is given begins after the second. */
const GOOD_MS = 60_000;
const REFUSED_MS = 10_000;
const MOST_GOOD = 20_000;
const MOST_REFUSED = 1000;
/** Whoever can reach the port can try tokens: no more than this are asked about at the same time. */
const MOST_ASKED = 10;

/** No bearer token was sent; too many are asked about; the API server could not be asked. */
export type NoVerdict = "none" | "busy" | "failed";

/**
 * Judges the bearer token of an Authorization header by asking somebody, and remembers the answer for a short time under a
 * hash of the token.
 */
export function createTokenVerdicts<V extends object>(options: {
  clock: Clock;
  ask: (token: string) => Promise<V>;
  isGood: (verdict: V) => boolean;
  onError: (error: unknown) => void;
}): (authorization: string | undefined) => Promise<V | NoVerdict> {
  const { clock, isGood, onError } = options;
  const asking = new Map<string, Promise<V | NoVerdict>>();
  // Apart, so that who tries many tokens pushes no good one out.
  const good = createLru<{ verdict: V; until: number }>(MOST_GOOD);
  const refused = createLru<{ verdict: V; until: number }>(MOST_REFUSED);

  async function ask(key: string, token: string): Promise<V | NoVerdict> {
    try {
      const verdict = await options.ask(token);
      const now = clock.monotonic();
      if (isGood(verdict)) good.set(key, { verdict, until: now + GOOD_MS });
      else refused.set(key, { verdict, until: now + REFUSED_MS });
      return verdict;
    } catch (error) {
      onError(error);
      return "failed";
    } finally {
      asking.delete(key);
    }
  }

  return async (authorization = "") => {
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    if (token === undefined) return "none";
    const key = hash("sha256", token, "base64");
    const now = clock.monotonic();
    for (const known of [good.get(key), refused.get(key)]) if (known && known.until > now) return known.verdict;
    const asked = asking.get(key);
    if (asked) return asked;
    if (asking.size >= MOST_ASKED) return "busy";
    const answer = ask(key, token);
    asking.set(key, answer);
    return answer;
  };
}
