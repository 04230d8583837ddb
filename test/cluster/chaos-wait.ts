import { setTimeout as delay } from "node:timers/promises";

/** Something that was waited for did not come. The message says what was still in the way. */
export class TooLate extends Error {}

export interface Patience {
  /** Names what is waited for. */
  title: string;
  forMs?: number;
  everyMs?: number;
}

/** Asks again and again until nothing is missing. Rejects with `TooLate`, or with what the question itself throws. */
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
