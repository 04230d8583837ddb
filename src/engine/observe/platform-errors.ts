import { inWordsOfSpec, messageOf } from "../../kinds/fields/words-of-spec.ts";
import type { ResourceKind } from "../../kinds/kind.ts";
import { isPermanent, KubeError } from "../../kube/client/errors.ts";
import { Forbidden, PlatformError, Retry, Terminal, Unauthorized } from "../../platform/answers/errors.ts";
import type { Obstacle } from "../status/reasons.ts";

/** The reason and message for an error of the platform, or of the API server, about an object of this kind. */
export function obstacleFrom(error: unknown, kind?: ResourceKind): Obstacle {
  if (!isPermanent(error) && error instanceof KubeError) {
    return { reason: "KubernetesUnavailable", message: error.message };
  }
  if (!(error instanceof PlatformError))
    return { reason: "InternalError", message: error instanceof Error ? error.message : String(error) };
  const message = inWordsOfSpec(error.platformMessage ?? error.message, kind);
  if (error instanceof Unauthorized) return { reason: "Unauthorized", message };
  if (error instanceof Forbidden) {
    const { privilege } = kind?.resource.place ?? {};
    const named = privilege === undefined || message.includes(privilege);
    const needed = named ? "" : `: the privilege "${privilege}" is needed`;
    return { reason: "Forbidden", message: `${message}${needed}` };
  }
  if (error instanceof Terminal) {
    if (error.busy) return { reason: "Updating", message };
    return { reason: error.quota ? "QuotaExceeded" : "Rejected", message };
  }
  if (error instanceof Retry && error.status === 429) {
    return { reason: "RateLimited", message: "the platform asks to slow down" };
  }
  return { reason: "PlatformUnavailable", message: error.message };
}

/** The kind cannot read what the platform answered. */
export const notUnderstood = ({ kind }: ResourceKind, error: unknown): Obstacle => ({
  reason: "PlatformUnavailable",
  message: `invalid answer of the platform about the ${kind}: ${messageOf(error, [])}`,
});
