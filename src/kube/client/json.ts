import { KubeError } from "./errors.ts";

/** Parses the answer to `call`. The parser's own message is dropped: it quotes the text, which may be a secret. */
export function parseJson<T>(text: string, call: string): T {
  try {
    const value: T = JSON.parse(text);
    return value;
  } catch {
    const message = `${call}: the answer is not JSON, or was cut off after ${text.length} characters`;
    throw new KubeError({ status: 0, reason: "Unreadable", message });
  }
}
