import { z } from "zod";
import { createTokenVerdicts, type NoVerdict } from "../kube/client/token-verdicts.ts";
import type { KubeClient } from "../kube/client/transport.ts";
import type { Clock } from "../runtime/clock.ts";

/** The HTTP status for a client that asks for metrics. */
export type Verdict = 200 | 401 | 403 | 429 | 500;

/** Checks the Authorization header of a request. */
export type MetricsAccess = (authorization: string | undefined) => Promise<Verdict>;

const statusWithoutVerdict: Record<NoVerdict, Verdict> = { none: 401, busy: 429, failed: 500 };

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
 * Asks the API server whose token it is (TokenReview) and whether that user may `get` the URL `/metrics` (SubjectAccessReview),
 * as controller-runtime does. Answers are cached for a short time under a hash of the token.
 */
export function createMetricsAccess(options: {
  client: Pick<KubeClient, "request">;
  clock: Clock;
  onError: (error: unknown) => void;
}): MetricsAccess {
  const { client, clock, onError } = options;

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

  const verdictOf = createTokenVerdicts({
    clock,
    onError,
    ask: async (token) => ({ status: await review(token) }),
    isGood: ({ status }) => status === 200,
  });
  return async (authorization) => {
    const verdict = await verdictOf(authorization);
    return typeof verdict === "string" ? statusWithoutVerdict[verdict] : verdict.status;
  };
}
