import { PlatformError } from "../../platform/answers/errors.ts";
import { type Deps, deadlineFrom } from "../observe/deps.ts";

/** A write to the platform that must not happen twice. `Begun` is what is on record of it. */
export interface Entry<Begun, Answer, Result> {
  /** Puts it on record, with who sends it. `at`: its deadline counts from here, as it does for whoever reads the record. */
  announce(at: number): Promise<Begun>;
  /** No byte of it leaves after the deadline. */
  send(begun: Begun, deadlineMs: number): Promise<Answer>;
  /** Keeps what came of it, on condition that the record still stands: else another process has gone on without it. */
  keep(begun: Begun, answer: Answer): Promise<Result>;
  /** It was certainly not executed: takes it off the record. */
  retract(begun: Begun): Promise<unknown>;
  failed(begun: Begun, error: PlatformError): Promise<Result>;
}

/**
 * The journal of writes that must not happen twice: creations, changes that cannot be repeated, new keys and tokens.
 *
 * Flow: announce, send, keep.
 * Guarantee: what is sent is on record before its first byte leaves, and stays there until its result is kept or it is certain
 * that it was not executed.
 * Recovery: whoever finds an entry looks for its result at once, and sends again only after `settledAt` of its author.
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
