import { z } from "zod";
import { createTokenVerdicts } from "../../kube/client/token-verdicts.ts";
import type { KubeClient } from "../../kube/client/transport.ts";
import type { Clock } from "../../runtime/clock.ts";
import { Refused } from "../refused.ts";

/** The audience of callers' tokens. Tokens for the API server are refused, so clients need not send them here. */
export const AUDIENCE = "mooring-gateway";

/**
 * Returns the namespace of the ServiceAccount in an Authorization header, or throws `Refused`. The checks of different
 * peers take turns, so one peer cannot delay all others.
 */
export type Callers = (authorization: string | undefined, peer: string) => Promise<string>;

const review = z.object({
  status: z.object({
    authenticated: z.boolean().optional(),
    audiences: z.array(z.string()).optional(),
    user: z.object({ username: z.string().optional() }).optional(),
  }),
});

/** Checks tokens by TokenReview. */
export function createCallers(options: {
  client: Pick<KubeClient, "request">;
  clock: Clock;
  onError: (error: unknown) => void;
}): Callers {
  const verdictOf = createTokenVerdicts({
    clock: options.clock,
    onError: options.onError,
    isGood: ({ namespace }: { namespace: string | undefined }) => namespace !== undefined,
    async ask(token) {
      const answer = await options.client.request({
        method: "POST",
        path: "/apis/authentication.k8s.io/v1/tokenreviews",
        body: {
          apiVersion: "authentication.k8s.io/v1",
          kind: "TokenReview",
          spec: { token, audiences: [AUDIENCE] },
        },
        deadlineMs: 10_000,
      });
      const { authenticated, audiences = [], user } = review.parse(answer).status;
      const isForGateway = authenticated === true && audiences.includes(AUDIENCE);
      const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(user?.username ?? "") ?? [];
      return { namespace: isForGateway ? namespace : undefined };
    },
  });
  return async (authorization, peer) => {
    const verdict = await verdictOf(authorization, peer);
    if (verdict === "none")
      throw new Refused(
        401,
        "invalid_api_key",
        `send a ServiceAccount token for the audience ${AUDIENCE} as bearer token`,
      );
    if (verdict === "busy")
      throw new Refused(429, "rate_limit_exceeded", "too many tokens wait to be checked", { retryAfter: 1 });
    if (verdict === "failed")
      throw new Refused(503, "unavailable", "the token could not be checked", { retryAfter: 2 });
    if (verdict.namespace !== undefined) return verdict.namespace;
    throw new Refused(
      401,
      "invalid_api_key",
      `the token is not of a ServiceAccount, has expired, or is not for the audience ${AUDIENCE}`,
    );
  };
}
