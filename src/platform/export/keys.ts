import { PlatformError } from "../answers/errors.ts";
import { redactor } from "../calls/credentials.ts";
import type { Destination } from "./destination.ts";

/** Removes the keys of a destination from text that is shown. */
export function keyRedactor(keys: readonly string[]): (text: string) => string {
  const redactors = keys.map(redactor);
  return (text) => redactors.reduce((left, redact) => redact(left), text);
}

/**
 * A destination whose errors do not quote its keys. The text of a `PlatformError` has none: the transport removes the `keys` of a
 * call from its answer, and Kafka's errors are made without them. Other errors come from libraries, and get another text here.
 */
export function withoutKeys(to: Destination, keys: readonly string[], guard: () => void): Destination {
  return {
    most: to.most,
    async deliver(window) {
      try {
        await to.deliver(window);
      } catch (error) {
        if (error instanceof PlatformError) throw error;
        // An error of the guard itself stays as it is.
        guard();
        throw redacted(error, keyRedactor(keys));
      }
    },
  };
}

/** Without properties and causes, which may quote the keys too. */
function redacted(error: unknown, redact: (text: string) => string): Error {
  const shown = new Error(redact(error instanceof Error ? error.message : String(error)));
  if (error instanceof Error) shown.stack = redact(error.stack ?? error.message);
  return shown;
}
