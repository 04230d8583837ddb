import { Forbidden, PlatformError, Retry, Terminal, Unauthorized } from "../../platform/errors.ts";
import type { Obstacle } from "../schema/reasons.ts";

/**
 * What an error of the platform means for an object: the reason a person reads, and whether waiting helps. `privilege` is
 * what the call needs, where that is known.
 */
export function obstacleOf(error: unknown, privilege?: string): Obstacle {
  if (!(error instanceof PlatformError)) {
    return { reason: "InternalError", message: error instanceof Error ? error.message : String(error) };
  }
  const message = error.platformMessage ?? error.message;
  if (error instanceof Unauthorized) return { reason: "Unauthorized", message };
  if (error instanceof Forbidden) {
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
