import { z } from "zod";

/** The process that began a write. It is recorded with the write: it tells others how long bytes may still be sent. */
export const author = z.object({
  pod: z.string().describe("Pod of the operator that began it."),
  process: z.string().describe("Start of the operator in that pod."),
  deadlineMs: z.int().describe("Milliseconds after which no byte of it leaves."),
});
export type Author = z.output<typeof author>;

/** `settleMs`: how long a write may take to arrive after its deadline, and its effect to become visible. */
export interface Waiting {
  settings: { settleMs: number };
}

/**
 * When the outcome of a write without an answer is certain, and it may be sent again. Its process sends no byte of it after the
 * deadline. In the settle time it arrives, out of a kernel or a proxy, and its effect becomes visible. The death of the process
 * shortens neither. `since` is when this process began the write, or first saw it on record.
 */
export const settledAt = ({ settings }: Waiting, by: Author, since: number): number =>
  since + by.deadlineMs + settings.settleMs;
