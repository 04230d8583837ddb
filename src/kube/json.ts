import { KubeError } from "./errors.ts";

/** Parses an answer. A parser's own message would quote what it could not read, which may be a secret. */
export function parseJson<T>(text: string): T {
  try {
    const value: T = JSON.parse(text);
    return value;
  } catch {
    throw new KubeError({
      status: 0,
      reason: "Unreadable",
      message: `not JSON, or cut off after ${text.length} characters`,
    });
  }
}
