import type { Clock } from "../../runtime/clock.ts";
import { inSlices } from "../../runtime/time-slices.ts";
import { plainText } from "./plain-text.ts";

type Redact = (text: string) => string;

/** A parsed value without secrets. Written again, it has no escapes that hide them. */
export function redacted(value: unknown, redact: Redact): unknown {
  const text = JSON.stringify(value);
  const left = redact(text);
  return left === text ? value : JSON.parse(left);
}

/** Redacts why a request or a resource failed, in an answer about one or in a list, because status and Events show it. */
export async function redactReasons(body: unknown, redact: Redact, clock: Clock): Promise<void> {
  redactReason(body, redact);
  const items: unknown = isRecord(body) ? body.items : undefined;
  if (Array.isArray(items)) await inSlices(clock, items, (item) => redactReason(item, redact));
}

function redactReason(each: unknown, redact: Redact): void {
  const metadata = isRecord(each) ? each.metadata : undefined;
  if (!isRecord(metadata)) return;
  for (const name of ["message", "statusMessage"]) {
    const text = metadata[name];
    if (typeof text !== "string") continue;
    // Without control characters, as it is shown: they must not hide a secret.
    const shown = plainText(text);
    const left = redact(shown);
    if (left !== shown) metadata[name] = left;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
