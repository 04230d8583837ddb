/** The requests that wait for their turn at a rate limiter. */
export type Priority = "people" | "normal" | "background";

export interface Waiting {
  readonly priority: Priority;
  /** The latest turn that is of use, on the monotonic clock. */
  readonly until: number;
  /** Its turn has come. */
  grant(): void;
  /** It leaves the line without a turn. */
  turnAway(reason: unknown): void;
}

/**
 * The highest priority goes first, and each priority is first in first out. Every tenth turn goes to the request that has
 * waited longest, so that background reads slow down under load but never stop.
 */
export interface WaitingLine {
  readonly size: number;
  /** The place that a new request of this priority gets; the first place is 1. */
  placeOf(priority: Priority): number;
  has(waiting: Waiting): boolean;
  add(waiting: Waiting): void;
  delete(waiting: Waiting): void;
  /** The request that has the next turn, of those with an allowed priority. */
  next(isAllowed: (priority: Priority) => boolean): Waiting | undefined;
  /** Gives it the turn. */
  grant(waiting: Waiting): void;
  /** Turns away each request for which `reasonAt` has a reason. Those behind it move up. */
  turnAway(reasonAt: (place: number, until: number) => Error | undefined): void;
}

const order: readonly Priority[] = ["people", "normal", "background"];
const oldestFirstEvery = 10;

export function createWaitingLine(): WaitingLine {
  /** Each request with its serial number. */
  const queues: Record<Priority, Map<Waiting, number>> = {
    people: new Map(),
    normal: new Map(),
    background: new Map(),
  };
  let arrivals = 0;
  let grants = 0;
  const sizeOf = (priorities: readonly Priority[]) => priorities.reduce((sum, each) => sum + queues[each].size, 0);
  return {
    get size() {
      return sizeOf(order);
    },
    placeOf: (priority) => sizeOf(order.slice(0, order.indexOf(priority) + 1)) + 1,
    has: (waiting) => queues[waiting.priority].has(waiting),
    add(waiting) {
      queues[waiting.priority].set(waiting, arrivals++);
    },
    delete(waiting) {
      queues[waiting.priority].delete(waiting);
    },
    next(isAllowed) {
      const heads = order.flatMap((priority) => {
        const [head] = isAllowed(priority) ? queues[priority] : [];
        return head ? [head] : [];
      });
      if ((grants + 1) % oldestFirstEvery === 0) heads.sort(([, serial], [, other]) => serial - other);
      return heads[0]?.[0];
    },
    grant(waiting) {
      grants += 1;
      queues[waiting.priority].delete(waiting);
      waiting.grant();
    },
    turnAway(reasonAt) {
      let place = 1;
      for (const waiting of order.flatMap((priority) => [...queues[priority].keys()])) {
        const reason = reasonAt(place, waiting.until);
        if (reason) waiting.turnAway(reason);
        else place += 1;
      }
    },
  };
}
