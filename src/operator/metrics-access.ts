import { createHash } from "node:crypto";
import { z } from "zod";
import type { Clock } from "../clock.ts";
import { createLru } from "../kube/lru.ts";
import type { KubeClient } from "../kube/transport.ts";

/** What to answer to who asks for metrics. */
export type Verdict = 200 | 401 | 403 | 429 | 500;

/** Judges the Authorization header of a request. */
export type MetricsAccess = (authorization: string | undefined) => Promise<Verdict>;

/** A right that is taken away ends after the first, one that is given begins after the second. */
const ALLOWED_MS = 60_000;
const REFUSED_MS = 10_000;
const MOST_REMEMBERED = 1000;
/** Whoever can reach the port can try tokens: no more than this are asked about at the same time. */
const MOST_ASKED = 10;

const tokenReview = z.object({
  status: z.object({
    authenticated: z.boolean().optional(),
    user: z
      .object({
        username: z.string().optional(),
        uid: z.string().optional(),
        groups: z.array(z.string()).optional(),
        extra: z.record(z.string(), z.array(z.string())).optional(),
      })
      .optional(),
  }),
});
const accessReview = z.object({ status: z.object({ allowed: z.boolean() }) });

/**
 * Asks the API server who has a token and whether they may `get` the URL `/metrics`, as controller-runtime does. Answers
 * are remembered for a short time under a hash of the token.
 */
export function createMetricsAccess(options: {
  client: Pick<KubeClient, "request">;
  clock: Clock;
  onError: (error: unknown) => void;
}): MetricsAccess {
  const { client, clock, onError } = options;
  const asking = new Map<string, Promise<Verdict>>();
  // Apart, so that who tries many tokens pushes no good one out.
  const allowed = createLru<number>(MOST_REMEMBERED);
  const refused = createLru<{ verdict: Verdict; until: number }>(MOST_REMEMBERED);

  async function review(token: string): Promise<Verdict> {
    const answer = await client.request({
      method: "POST",
      path: "/apis/authentication.k8s.io/v1/tokenreviews",
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } },
    });
    const { authenticated, user: { username, ...rest } = {} } = tokenReview.parse(answer).status;
    if (!authenticated || username === undefined) return 401;
    const spec = { user: username, ...rest, nonResourceAttributes: { path: "/metrics", verb: "get" } };
    const access = await client.request({
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
      body: { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec },
    });
    return accessReview.parse(access).status.allowed ? 200 : 403;
  }

  async function ask(key: string, token: string): Promise<Verdict> {
    try {
      const verdict = await review(token);
      const now = clock.monotonic();
      if (verdict === 200) allowed.set(key, now + ALLOWED_MS);
      else refused.set(key, { verdict, until: now + REFUSED_MS });
      return verdict;
    } catch (error) {
      onError(error);
      return 500;
    } finally {
      asking.delete(key);
    }
  }

  return async (authorization = "") => {
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    if (token === undefined) return 401;
    const key = createHash("sha256").update(token).digest("base64");
    const now = clock.monotonic();
    if ((allowed.get(key) ?? 0) > now) return 200;
    const known = refused.get(key);
    if (known && known.until > now) return known.verdict;
    const asked = asking.get(key);
    if (asked) return asked;
    if (asking.size >= MOST_ASKED) return 429;
    const answer = ask(key, token);
    asking.set(key, answer);
    return answer;
  };
}
