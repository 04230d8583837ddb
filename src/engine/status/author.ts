import { z } from "zod";

/**
 * Who began a write that may get lost, on record with it: whoever finds it knows by this how long it may still leave. Signed
 * like the rest of the record.
 */
export const author = z.object({
  pod: z.string().describe("Pod of the operator that began it."),
  process: z.string().describe("Start of the operator in that pod."),
  deadlineMs: z.int().describe("Milliseconds after which no byte of it leaves."),
});
export type Author = z.output<typeof author>;

/** How long a write may be on its way after its deadline, and stay invisible. */
export interface Waiting {
  settings: { settleMs: number };
}

/**
 * When it is certain what became of a write that got no answer, and it may be sent again. Its process sends no byte of it after the
 * deadline. In the settle time what was sent arrives, out of a kernel or a proxy, and what it did becomes visible; the death of
 * the process shortens neither. `since` is when this process began the write, or first saw it on record.
 */
export const settledAt = ({ settings }: Waiting, by: Author, since: number): number =>
  since + by.deadlineMs + settings.settleMs;
