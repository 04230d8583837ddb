import type { Related } from "../../../kinds/desired.ts";
import { reachedTime } from "../../../platform/calls/platform-time.ts";
import type { AccountHandle } from "../../accounts/accounts.ts";
import type { Note } from "../../state/published.ts";
import { type Deps, overlapOf } from "../deps.ts";
import type { Context, SecretsView, Subject, Times } from "../view.ts";
import { outputState, outputWork, relatedMembers } from "./output-state.ts";
import { observeSecret } from "./secret-state.ts";

/** The Secret with the key, and the Secret or ConfigMap of spec.output. */
export function observeSecrets(
  deps: Deps,
  subject: Subject,
  { account, shared, item }: Pick<Context, "account" | "shared" | "item">,
  { now, platformNow }: Times,
): { view: SecretsView; note: Note | undefined; related: Related | undefined } {
  const { kind, status, memory, claim } = subject;
  const { previous } = status;
  const previousMs = previousLeftMs(deps, subject, account);
  const { note, ...secret } = observeSecret(deps, subject, { platformNow, previousMs }, account, item);
  const related = relatedMembers(deps, subject, account, item);
  const view: SecretsView = {
    ...secret,
    othersKey: kind.resource.secret?.key !== undefined && status.nonce === undefined && status.key === undefined,
    previous: previous && {
      asOf: shared?.collection.read(previous.id).asOf ?? Number.NEGATIVE_INFINITY,
      isOver: previousMs === 0,
    },
    output: outputState(outputWork(deps, { ...subject, related }, claim, item), memory, now),
  };
  return { view, note, related };
}

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
