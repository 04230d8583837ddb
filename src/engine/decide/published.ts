import type { View } from "../observe/view.ts";
import { nextStep } from "../state/succession.ts";
import type { Decision } from "./decision.ts";
import { renewal } from "./deletion.ts";
import { RECHECK_MS } from "./waiting.ts";

const isKeyDue = ({ keyDueAt, platformNow }: View): boolean => keyDueAt !== undefined && keyDueAt <= platformNow;

/**
 * Workloads need the Secret: without it, nothing is ready. `check` is the lookup that has to come before the Secret is written again. A key of somebody else's making is not ended, and one that is lost is
 * made anew only when a read by name has proved that. No attempt is repeated before its pause is over.
 */
export function decideSecret(view: View, check: Decision | undefined): Decision | undefined {
  const { secret, repair, now } = view;
  const isEarly = repair !== undefined && now < repair.at;
  switch (secret) {
    case undefined:
      return undefined;
    case "unknown":
      return UNREAD;
    case "unread":
      return { step: "publish" };
    case "missing":
      if (view.othersKey) return isKeyDue(view) ? renewal(view) : undefined;
      return isEarly ? secretChanged(view) : renewal(view);
    case "outdated":
      if (isKeyDue(view)) return renewal(view);
      return check ?? (isEarly ? secretChanged(view) : { step: "publish" });
    case "unmarked":
    case "current":
      if (isKeyDue(view)) return renewal(view);
      return secret === "current" || isEarly ? undefined : { step: "publish" };
  }
}

/** The Secret was changed again soon after it was put right: the next attempt has to wait for its turn. */
function secretChanged({ repair, now }: View): Decision {
  const message = `${repair?.why ?? "the Secret is not as it was written"}; it is put right after a pause, which grows each time: find out who changes it`;
  return { step: "wait", reason: "SecretChanged", message, recheckMs: (repair?.at ?? now) - now };
}

/** The one before has had its time. */
export const decidePrevious = ({ previous }: View): Decision | undefined =>
  nextStep({ previous, isDue: false }) === "revoke" ? { step: "revoke" } : undefined;

const UNREAD: Decision = {
  step: "wait",
  reason: "Observing",
  message: "waiting for the first read of Secrets and ConfigMaps",
  recheckMs: RECHECK_MS,
};

/** What workloads are to know is written before anything is called ready. The platform never waits for it. */
export function decideOutput({ output, now }: View): Decision | undefined {
  if (output === "unknown") return UNREAD;
  return output && output.dueAt <= now ? { step: "output" } : undefined;
}
