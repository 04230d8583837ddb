import { plainText } from "./plain-text.ts";

type Redact = (text: string) => string;

/** A parsed value without secrets. Written again, it has no escapes that hide them. */
export function redacted(value: unknown, redact: Redact): unknown {
  const text = JSON.stringify(value);
  const left = redact(text);
  return left === text ? value : JSON.parse(left);
}

/** Redacts why a request or a resource failed, in an answer about one or in a list, because status and Events show it. */
export function redactReasons(body: unknown, redact: Redact): void {
  const { items } = Object(body);
  for (const each of Array.isArray(items) ? [body, ...items] : [body]) {
    const metadata = Object(Object(each).metadata);
    for (const name of ["message", "statusMessage"]) {
      const text = metadata[name];
      // Without control characters, as it is shown: they must not hide a secret.
      const shown = typeof text === "string" ? plainText(text) : "";
      const left = redact(shown);
      if (left !== shown) metadata[name] = left;
    }
  }
}
