import type { Clock } from "../../runtime/clock.ts";

/** The last answers that count. More than half of them have to agree before the estimate moves. */
const WINDOW = 9;
/** With fewer answers than this, our own clock votes in the place of those that are missing. */
const LEAST = 3;
/** Clocks that differ by more than this are worth a word; an answer that does so from the others is in doubt. */
export const NOTABLE_SKEW_MS = 60_000;
/** A Date header has whole seconds, rounded down. */
const HALF_A_SECOND = 500;

/** What the Date headers of a connection tell about the platform's clock. */
export interface PlatformTime {
  /** The Date header of an answer; when its request left and when it was read, on the monotonic clock. */
  add(header: string | undefined, leftAt: number, readAt: number): void;
  /** How far the platform's clock is ahead of ours, in milliseconds; negative when it is behind. */
  readonly aheadMs: number;
  /** Whether the last answer tells another time than the estimate: a few more have to say which of them is right. */
  readonly inDoubt: boolean;
}

/**
 * Estimates the platform's clock as the median of the last answers, each taken for the middle of its round trip. One answer cannot
 * move it, whatever it says: a wrong clock behind a load balancer is outvoted. Times are kept relative to the monotonic clock, so that
 * setting our own wall clock changes nothing about what time it is there.
 */
export function createPlatformTime({ now, monotonic }: Pick<Clock, "now" | "monotonic">): PlatformTime {
  /** The platform's time at the moment when our monotonic clock was zero, as each answer tells it. */
  let origins: number[] = [];
  const own = () => now() - monotonic();
  const estimate = () => {
    const votes = [...origins, ...Array.from({ length: LEAST - origins.length }, own)];
    return votes.sort((a, b) => a - b)[(votes.length - 1) >> 1] ?? own();
  };
  return {
    add(header, leftAt, readAt) {
      const told = Date.parse(header ?? "");
      if (Number.isNaN(told)) return;
      origins = [...origins, told + HALF_A_SECOND - (leftAt + readAt) / 2].slice(-WINDOW);
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

/** What a connection knows of the platform's clock. */
type Known = Partial<Pick<PlatformTime, "aheadMs" | "inDoubt">>;

/** What time it is on the platform, as far as its answers tell; our own time before the first of them. */
export const platformTime = (clock: Pick<Clock, "now">, connection: Known | undefined): number =>
  clock.now() + skewOf(connection);

/** How far the platform's clock is ahead of ours, in milliseconds; negative when it is behind. */
export const skewOf = (connection: Known | undefined): number => connection?.aheadMs ?? 0;

/** Repeats a read, a few times at most, while its answer leaves in doubt what time it is on the platform. */
export async function withoutDoubt<T>(connection: Known, read: () => Promise<T>): Promise<T> {
  let answer = await read();
  for (let times = 0; connection.inDoubt && times < WINDOW / 2; times++) answer = await read();
  return answer;
}
