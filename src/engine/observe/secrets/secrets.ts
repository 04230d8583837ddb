import type { Related } from "../../../kinds/desired.ts";
import type { AccountHandle } from "../../accounts/accounts.ts";
import type { Note } from "../../state/published.ts";
import type { Deps } from "../deps.ts";
import type { Shared } from "../resource/collections.ts";
import type { SecretsView, Subject, Times } from "../view.ts";
import { outputState, outputWork, relatedMembers } from "./output-state.ts";
import { previousLeftMs } from "./previous-token.ts";
import { observeSecret } from "./secret-state.ts";

/** The Secret with the key, and the Secret or ConfigMap of spec.output. */
export function observeSecrets(
  deps: Deps,
  subject: Subject,
  { account, shared, identity }: { account: AccountHandle | undefined; shared: Shared | undefined; identity: string },
  { now, platformNow }: Times,
): { view: SecretsView; note: Note | undefined; related: Related | undefined } {
  const { kind, status, memory, claim } = subject;
  const { previous } = status;
  const item = shared?.collection.read(identity).item;
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
