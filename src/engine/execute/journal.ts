import { PlatformError } from "../../platform/answers/errors.ts";
import { type Deps, deadlineFrom } from "../observe/deps.ts";

/** A write to the platform that must not happen twice. `Begun` is its record. */
export interface Entry<Begun, Answer, Result> {
  /** Records the write and its author. The deadline counts from `at`. */
  announce(at: number): Promise<Begun>;
  /** Nothing is sent after the deadline. */
  send(begun: Begun, deadlineMs: number): Promise<Answer>;
  /** Records the result, on condition that the record is still there: otherwise another process goes on without it. */
  keep(begun: Begun, answer: Answer): Promise<Result>;
  /** Removes the record of a write that was certainly not executed. */
  retract(begun: Begun): Promise<unknown>;
  failed(begun: Begun, error: PlatformError): Promise<Result>;
}

/**
 * The journal of writes that must not happen twice: creations, changes that cannot be repeated, new keys and tokens.
 *
 * Flow: announce, send, keep.
 * Guarantee: a write is recorded before it is sent, until its result is recorded or it was certainly not executed.
 * Recovery: the next process searches for the result of a record at once, and sends again only after `settledAt` of its author.
 */
export async function journaled<Begun, Answer, Result>(
  deps: Pick<Deps, "clock" | "settings">,
  { announce, send, keep, retract, failed }: Entry<Begun, Answer, Result>,
): Promise<Result> {
  const at = deps.clock.monotonic();
  const begun = await announce(at);
  let answer: Answer;
  try {
    answer = await send(begun, deadlineFrom(deps, at));
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    if (error.executed !== "unknown") await retract(begun);
    return failed(begun, error);
  }
  return keep(begun, answer);
}
