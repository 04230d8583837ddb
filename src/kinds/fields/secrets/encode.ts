/**
 * Encoders for external text that goes into configuration files. Each function returns the text in its format, and
 * throws `Unwritable` if the format cannot represent it safely.
 */

/** The reason why a text cannot go into a Secret. Names the field and never the text, which may be a key. */
export class Unwritable extends Error {
  constructor(field: string, why: string) {
    super(`${field} ${why}`);
  }
}

const LONGEST = 4096;

/** One line of plain text: the minimum for every other format. */
export function plain(field: string, text: string): string {
  if (text.length > LONGEST) throw new Unwritable(field, `is longer than ${LONGEST} characters`);
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) throw new Unwritable(field, "contains a line break or a control character");
  if (!text.isWellFormed()) throw new Unwritable(field, "is not valid Unicode");
  return text;
}

/** Rejects `${`: the agent would replace it with a variable or a file, and its format has no escape for it. */
function unexpanded(field: string, text: string): string {
  if (text.includes("${")) throw new Unwritable(field, "contains ${, which agents replace by a variable");
  return plain(field, text);
}

/** A value in Fluent Bit's classic format, which has no quotes and no escapes. */
export function fluentBit(field: string, text: string): string {
  if (text !== text.trim()) throw new Unwritable(field, "begins or ends with a space");
  return unexpanded(field, text);
}

/** A double-quoted YAML string in ASCII, because parsers treat other printable characters differently. */
export const yaml = (field: string, text: string): string => quoted(unexpanded(field, text));

/** A string of Grafana Alloy, which expands no variables. */
export const alloy = (field: string, text: string): string => quoted(plain(field, text));

/** A string of the OpenTelemetry Collector, which expands variables; `$$` stands for `$`. */
export const openTelemetry = (field: string, text: string): string =>
  // The replacement is a function, because `$$` in a replacement text means a single `$`.
  quoted(plain(field, text).replaceAll("$", () => "$$"));

const quoted = (text: string): string =>
  JSON.stringify(text).replace(/[^ -~]/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
  });

/** A name of letters, digits, `_` and `-`, which is safe in a path and in a pattern. */
export const word = (field: string, text: string): string => formed(field, text, /^[\w-]+$/, "is not a plain word");

/** A host name or IP address, with or without a port. */
export const hostPort = (field: string, text: string): string =>
  formed(field, text, /^(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(:[0-9]{1,5})?$/, "is not a host with a port");

/** An address, an id, a number or a location: one word without special meaning in a shell, a list or a file. */
export const addressed = (field: string, text: string): string =>
  formed(field, text, /^[\w.:/[\]-]*$/, "is not an address or an id");

/** A web address; empty until the platform reports one. */
const LONGEST_ADDRESS = 2048;

export function webAddress(field: string, text: string): string {
  const { protocol, username, password } = URL.parse(plain(field, text)) ?? {};
  const isWeb = (protocol === "https:" || protocol === "http:") && !username && !password;
  if (text !== "" && !(isWeb && text.length <= LONGEST_ADDRESS))
    throw new Unwritable(field, "is not an http or https URL");
  return text;
}

function formed(field: string, text: string, form: RegExp, why: string): string {
  if (!form.test(plain(field, text))) throw new Unwritable(field, why);
  return text;
}
