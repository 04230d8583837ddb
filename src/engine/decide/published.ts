import type { View } from "../observe/view.ts";
import { nextStep } from "../state/succession.ts";
import type { Decision } from "./decision.ts";
import { renewal } from "./deletion.ts";
import { RECHECK_MS } from "./waiting.ts";

/**
 * The object is not Ready without its Secret. A lost key is renewed only after a read by name; a key that Mooring did not make, only
 * on request. No attempt is repeated before its pause is over. `check` is the lookup that must come before the Secret is written.
 */
export function decideSecret(view: View, check: Decision | undefined): Decision | undefined {
  const { secret, repair, keyDueAt, othersKey } = view.secrets;
  const { now, platformNow } = view.times;
  const isKeyDue = keyDueAt !== undefined && keyDueAt <= platformNow;
  const isEarly = repair !== undefined && now < repair.at;
  switch (secret) {
    case undefined:
      return undefined;
    case "unknown":
      return UNREAD;
    case "unread":
      return { step: "publish" };
    case "missing":
      if (othersKey) return isKeyDue ? renewal(view) : undefined;
      return isEarly ? secretChanged(view) : renewal(view);
    case "outdated":
      if (isKeyDue) return renewal(view);
      return check ?? (isEarly ? secretChanged(view) : { step: "publish" });
    case "unmarked":
    case "current":
      if (isKeyDue) return renewal(view);
      return secret === "current" || isEarly ? undefined : { step: "publish" };
  }
}

/** The Secret was changed again soon after its repair: the next repair waits. */
function secretChanged({ secrets: { repair }, times: { now } }: View): Decision {
  const message = `${repair?.why ?? "the Secret is not as it was written"}; it is put right after a pause, which grows each time: find out who changes it`;
  return { step: "wait", reason: "SecretChanged", message, recheckMs: (repair?.at ?? now) - now };
}

export const decidePrevious = ({ secrets: { previous } }: View): Decision | undefined =>
  nextStep({ previous, isDue: false }) === "revoke" ? { step: "revoke" } : undefined;

const UNREAD: Decision = {
  step: "wait",
  reason: "Observing",
  message: "waiting for the first read of Secrets and ConfigMaps",
  recheckMs: RECHECK_MS,
};

/** The output is written before the object is Ready, and after all writes to the platform. */
export function decideOutput({ secrets: { output }, times: { now } }: View): Decision | undefined {
  if (output === "unknown") return UNREAD;
  return output && output.dueAt <= now ? { step: "output" } : undefined;
}
