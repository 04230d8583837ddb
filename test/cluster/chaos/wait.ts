import { setTimeout as delay } from "node:timers/promises";

/** A wait timed out. The message says what was missing. */
export class TooLate extends Error {}

export interface Patience {
  /** The name of the wait. */
  title: string;
  forMs?: number;
  everyMs?: number;
}

/** Repeats a check until nothing is missing. Rejects with `TooLate`, or with the error of the check. */
export async function until(
  missing: () => Promise<string | undefined> | string | undefined,
  { title, forMs = 180_000, everyMs = 200 }: Patience,
): Promise<void> {
  const endsAt = performance.now() + forMs;
  for (;;) {
    const obstacle = await missing();
    if (obstacle === undefined) return;
    if (performance.now() > endsAt) throw new TooLate(`${title}: after ${forMs / 1000} s ${obstacle}`);
    await delay(everyMs);
  }
}
