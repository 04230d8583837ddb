import { hash } from "node:crypto";
import type { Clock } from "../../runtime/clock.ts";
import { createLru } from "../../runtime/lru.ts";
import { createFairQueue } from "./fair-queue.ts";

/** How long verdicts are cached. A revoked permission ends after GOOD_MS at the latest, a granted one begins after REFUSED_MS. */
const GOOD_MS = 60_000;
const REFUSED_MS = 10_000;
const MOST_GOOD = 20_000;
const MOST_REFUSED = 1000;
/**
 * Anyone who can reach the port can try tokens, so concurrent reviews are limited and others wait. Tokens that were valid
 * before have slots of their own.
 */
const NEW = { slots: 12, waiting: 1024, mostWaitMs: 30_000 };
const KNOWN = { slots: 4, waiting: 1024, mostWaitMs: 30_000 };

/** "none": no bearer token was sent. "busy": its turn did not come. "failed": the API server could not be asked. */
export type NoVerdict = "none" | "busy" | "failed";

/**
 * Checks the bearer token of an Authorization header with `ask`, and caches the verdict for a short time under a hash of the
 * token. Peers take turns: `peer` is the sender of the token.
 */
export function createTokenVerdicts<V extends object>(options: {
  clock: Clock;
  ask: (token: string) => Promise<V>;
  isGood: (verdict: V) => boolean;
  onError: (error: unknown) => void;
}): (authorization: string | undefined, peer?: string) => Promise<V | NoVerdict> {
  const { clock, isGood, onError } = options;
  const asking = new Map<string, Promise<V | NoVerdict>>();
  // Separate caches, so that a client that tries many tokens evicts no valid one.
  const good = createLru<{ verdict: V; until: number }>(MOST_GOOD);
  const refused = createLru<{ verdict: V; until: number }>(MOST_REFUSED);

  const queues = { new: createFairQueue({ clock, ...NEW }), known: createFairQueue({ clock, ...KNOWN }) };

  async function ask(key: string, token: string, peer: string): Promise<V | NoVerdict> {
    try {
      const queue = good.get(key) ? queues.known : queues.new;
      const verdict = await queue.run(peer, () => options.ask(token));
      if (verdict === "busy") return verdict;
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

  return async (authorization = "", peer = "") => {
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    if (token === undefined) return "none";
    const key = hash("sha256", token, "base64");
    const now = clock.monotonic();
    for (const known of [good.get(key), refused.get(key)]) if (known && known.until > now) return known.verdict;
    const asked = asking.get(key);
    if (asked) return asked;
    const answer = ask(key, token, peer);
    asking.set(key, answer);
    return answer;
  };
}
