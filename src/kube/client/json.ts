import { KubeError } from "./errors.ts";

/** Parses what came as the answer to `call`. A parser's message would quote what it could not read, maybe a secret. */
export function parseJson<T>(text: string, call: string): T {
  try {
    const value: T = JSON.parse(text);
    return value;
  } catch {
    const message = `${call}: the answer is not JSON, or was cut off after ${text.length} characters`;
    throw new KubeError({ status: 0, reason: "Unreadable", message });
  }
}
