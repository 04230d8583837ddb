import type { Priority } from "./waiting-line.ts";

/** The requests in flight. Background reads leave a quarter of their number to others. */
export interface InFlight {
  readonly isFull: boolean;
  /** Whether one more request of this priority may be sent, if there is room. */
  allows(priority: Priority): boolean;
  add(priority: Priority): void;
  remove(priority: Priority): void;
}

const backgroundShare = 0.75;

/** `most` returns how many requests may be in flight now. */
export function createInFlight(most: () => number): InFlight {
  let all = 0;
  let background = 0;
  return {
    get isFull() {
      return all >= most();
    },
    allows: (priority) => priority !== "background" || background < Math.max(1, Math.floor(most() * backgroundShare)),
    add(priority) {
      all += 1;
      if (priority === "background") background += 1;
    },
    remove(priority) {
      all -= 1;
      if (priority === "background") background -= 1;
    },
  };
}
