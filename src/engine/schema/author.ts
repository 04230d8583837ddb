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

/** What a version wrote that did not say it. */
const FORMER_DEADLINE_MS = 30_000;

/** How long after it was put on record a write may leave, by its own process. */
export const deadlineOf = (by: Author | undefined): number => by?.deadlineMs ?? FORMER_DEADLINE_MS;

/**
 * Whether the process that began a write is certainly dead. kubelet never runs two containers of one name in a pod at the
 * same time: an earlier process of our own pod has ended, and nothing more of it leaves. What it had handed to its sockets has
 * left, and has the settle time to arrive and be shown. One of another pod may be frozen, and go on.
 */
export const isOrphaned = (by: Author | undefined, self: Author): boolean =>
  by !== undefined && by.pod === self.pod && by.process !== self.process;

/** Who asks, and how long after it has left a write may stay invisible. */
export interface Waiting {
  self: Author;
  settings: { settleMs: number };
}

/**
 * When it is certain what became of a write that got no answer: it can no longer leave, and what it did can be seen. `since` is
 * when this process began it, or first saw it on record.
 */
export const settledAt = ({ self, settings }: Waiting, by: Author | undefined, since: number): number =>
  since + (isOrphaned(by, self) ? 0 : deadlineOf(by)) + settings.settleMs;
