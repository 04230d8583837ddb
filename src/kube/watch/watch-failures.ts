import type { Clock } from "../../runtime/clock.ts";
import { KubeError } from "../client/errors.ts";

const BASE_MS = 500;
const MAX_MS = 30_000;

/** The backoff after this many failures in a row, or the server's Retry-After if that is longer. */
export function waitAfter(failures: number, error: unknown, random: () => number): number {
  const grown = Math.min(MAX_MS, BASE_MS * 2 ** failures) * (0.5 + random() / 2);
  return Math.max(grown, error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0);
}

/** The server does not support streaming lists. */
export const isStreamingRefused = (error: unknown): boolean =>
  error instanceof KubeError && ([400, 405, 422, 501].includes(error.status) || error.reason === "Unsupported");

/**
 * The watch cannot resume from its resourceVersion: too old, unknown to this server, or malformed. From a future
 * resourceVersion, as after an etcd restore, the server sends nothing at all, not even bookmarks (`heard` is false).
 */
export const isOutdated = (error: unknown, heard: boolean): boolean =>
  error instanceof KubeError &&
  ([400, 410, 422].includes(error.status) ||
    error.reason === "Rewound" ||
    (error.reason === "Silent" && !heard) ||
    error.causes.some(({ reason }) => reason === "ResourceVersionTooLarge"));

const SAME_WITHIN_MS = 600_000;

/** Passes each failure to `tell`. The same failure is news only once in ten minutes, because a watch retries forever. */
export function tellingNews(
  clock: Pick<Clock, "monotonic">,
  tell: (error: unknown, isNews: boolean, retryInMs: number | undefined) => void,
): (error: unknown, retryInMs?: number) => void {
  let last = { message: "", at: 0 };
  return (error, retryInMs) => {
    const [message, now] = [String(error), clock.monotonic()];
    const isNews = message !== last.message || now - last.at >= SAME_WITHIN_MS;
    if (isNews) last = { message, at: now };
    tell(error, isNews, retryInMs);
  };
}
