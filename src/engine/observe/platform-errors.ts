import type { ResourceKind } from "../../kinds/kind.ts";
import { Forbidden, PlatformError, Retry, Terminal, Unauthorized } from "../../platform/answers/errors.ts";
import type { Obstacle } from "../status/reasons.ts";

/** What an error of the platform means for an object of this kind: the reason a person reads, and whether waiting helps. */
export function obstacleFrom(error: unknown, kind?: ResourceKind): Obstacle {
  if (!(error instanceof PlatformError)) {
    return { reason: "InternalError", message: error instanceof Error ? error.message : String(error) };
  }
  const message = inWordsOfSpec(error.platformMessage ?? error.message, kind);
  if (error instanceof Unauthorized) return { reason: "Unauthorized", message };
  if (error instanceof Forbidden) {
    const { privilege } = kind?.resource.place ?? {};
    const named = privilege === undefined || message.includes(privilege);
    const needed = named ? "" : `: the privilege "${privilege}" is needed`;
    return { reason: "Forbidden", message: `${message}${needed}` };
  }
  if (error instanceof Terminal) {
    if (error.busy) return { reason: "Updating", message };
    return { reason: error.quota ? "QuotaExceeded" : "Rejected", message };
  }
  if (error instanceof Retry && error.status === 429) {
    return { reason: "RateLimited", message: "the platform asks to slow down" };
  }
  return { reason: "PlatformUnavailable", message: error.message };
}

/** The platform begins with the path in what it was sent, `[(root).properties.cores]`; people know the field of spec. */
function inWordsOfSpec(words: string, kind: ResourceKind | undefined): string {
  return words.replace(/\[\(root\)((?:\.[\w-]+|\[\d+\])*)\]\s*/g, (_, path: string) => {
    const field = specField(path.replaceAll(/\.properties(?=\.|$)/g, "").replace(/^\./, ""), kind);
    return field === "" ? "" : `${field}: `;
  });
}

function specField(path: string, kind: ResourceKind | undefined): string {
  const renamed = Object.entries(kind?.resource.names.fields ?? {});
  const field = renamed.reduce((at, [theirs, ours]) => at.replace(`.${theirs}`, `.${ours}`), `.${path}`).slice(1);
  const [first = ""] = field.split(/[.[]/);
  return kind && first in kind.spec.shape ? `spec.${field}` : field;
}
