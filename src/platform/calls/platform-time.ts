import type { Clock } from "../../runtime/clock.ts";

/** The number of answers that count. The estimate moves only when more than half of them agree. */
const WINDOW = 9;
/** With fewer answers than this, our own clock stands in for the missing ones. */
const LEAST = 3;
/** A larger skew is reported; an answer that differs by more from the estimate is in doubt. */
export const NOTABLE_SKEW_MS = 60_000;
/** A Date header has whole seconds, rounded down. */
const HALF_A_SECOND = 500;

/** Estimates the platform's clock from the Date headers of a connection. */
export interface PlatformTime {
  /** Adds the Date header of an answer, with the times on the monotonic clock when the request left and the answer was read. */
  add(header: string | undefined, leftAt: number, readAt: number): void;
  /** How far the platform's clock is ahead of ours, in milliseconds; negative when it is behind. */
  readonly aheadMs: number;
  /** Whether the last answer differs from the estimate: a few more answers decide which is right. */
  readonly inDoubt: boolean;
}

/**
 * The estimate is the median of the last answers, each taken for the middle of its round trip. One answer cannot move it: a
 * wrong clock behind a load balancer is outvoted. Times are relative to the monotonic clock, so setting our own wall clock does
 * not change the estimate.
 */
export function createPlatformTime({ now, monotonic }: Pick<Clock, "now" | "monotonic">): PlatformTime {
  /** One per answer: what time it was on the platform when our monotonic clock was zero. */
  let origins: number[] = [];
  /** The same for our own clock. */
  const own = () => now() - monotonic();
  const estimate = () => {
    const votes = [...origins, ...Array.from({ length: LEAST - origins.length }, own)];
    return votes.sort((a, b) => a - b)[(votes.length - 1) >> 1] ?? own();
  };
  return {
    add(header, leftAt, readAt) {
      const date = Date.parse(header ?? "");
      if (Number.isNaN(date)) return;
      origins = [...origins, date + HALF_A_SECOND - (leftAt + readAt) / 2].slice(-WINDOW);
    },
    get aheadMs() {
      return Math.round(estimate() - own());
    },
    get inDoubt() {
      const last = origins.at(-1);
      return last !== undefined && Math.abs(last - estimate()) > NOTABLE_SKEW_MS;
    },
  };
}

/** The parts of a connection that are about the platform's clock. */
type Known = Partial<Pick<PlatformTime, "aheadMs" | "inDoubt">>;

/** The time on the platform, as estimated from its answers; our own time before the first answer. */
export const platformTime = (clock: Pick<Clock, "now">, connection: Known | undefined): number =>
  clock.now() + skewOf(connection);

/** How far the platform's clock is ahead of ours, in milliseconds; negative when it is behind. */
export const skewOf = (connection: Known | undefined): number => connection?.aheadMs ?? 0;

/**
 * The time that both clocks have reached, ours and the platform's. What cannot be undone waits for it: Date headers alone may be
 * wrong, and so may our own clock.
 */
export const reachedTime = (clock: Pick<Clock, "now">, connection: Known | undefined): number =>
  clock.now() + Math.min(0, skewOf(connection));

/** A time that neither clock has passed: what has to last for a while lasts from then on. */
export const latestTime = (clock: Pick<Clock, "now">, connection: Known | undefined): number =>
  clock.now() + Math.max(0, skewOf(connection));

/** Repeats a read, a few times at most, while its answer leaves the platform's time in doubt. */
export async function withoutDoubt<T>(connection: Known, read: () => Promise<T>): Promise<T> {
  let answer = await read();
  for (let times = 0; connection.inDoubt && times < WINDOW / 2; times++) answer = await read();
  return answer;
}

/** How far the clocks are apart, rounded, so that the message stays the same. */
export function skewText(aheadMs: number): string {
  const minutes = Math.round(Math.abs(aheadMs) / 60_000);
  const far = minutes < 120 ? `${minutes} minute${minutes === 1 ? "" : "s"}` : `${Math.round(minutes / 60)} hours`;
  return `the platform's clock is ${far} ${aheadMs > 0 ? "ahead of" : "behind"} the operator's`;
}
