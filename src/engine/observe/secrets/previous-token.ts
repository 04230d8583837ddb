import { reachedTime } from "../../../platform/calls/platform-time.ts";
import type { AccountHandle } from "../../accounts/accounts.ts";
import { type Deps, overlapOf } from "../deps.ts";
import type { Subject } from "../view.ts";

/**
 * How long the previous token still has to work; undefined without one. It is kept until both clocks have reached its end, or
 * until this process has known it for long enough: neither a wrong Date header nor a wrong clock of ours ends it early.
 */
export function previousLeftMs(
  deps: Deps,
  { status: { previous }, memory }: Pick<Subject, "status" | "memory">,
  account: AccountHandle | undefined,
): number | undefined {
  if (!previous) return undefined;
  const now = deps.clock.monotonic();
  if (memory.previous?.what !== previous.id) memory.previous = { what: previous.id, at: now };
  const byClocks = Date.parse(previous.until) - reachedTime(deps.clock, account?.connection);
  return Math.max(0, Math.min(byClocks, memory.previous.at + overlapOf(deps) - now));
}
