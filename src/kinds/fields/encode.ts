/**
 * Text of others, on its way into files that programs read: each function gives a text back as its format writes it, and
 * throws `Unwritable` for what the format has no safe way to write.
 */

/** Why a text cannot go into a Secret. Names the field and never shows the text, which may be a key. */
export class Unwritable extends Error {
  constructor(field: string, why: string) {
    super(`${field} ${why}`);
  }
}

const LONGEST = 4096;

/** One line of text that stands by itself. Every other format asks for as much. */
export function plain(field: string, text: string): string {
  if (text.length > LONGEST) throw new Unwritable(field, `is longer than ${LONGEST} characters`);
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) throw new Unwritable(field, "contains a line break or a control character");
  if (!text.isWellFormed()) throw new Unwritable(field, "is not valid Unicode");
  return text;
}

/** The agent would put a variable or a file in its place, and its format cannot say otherwise. */
function unexpanded(field: string, text: string): string {
  if (text.includes("${")) throw new Unwritable(field, "contains ${, which agents replace by a variable");
  return plain(field, text);
}

/** A value of Fluent Bit's classic format, which has no quotes and no escapes. */
export function fluentBit(field: string, text: string): string {
  if (text !== text.trim()) throw new Unwritable(field, "begins or ends with a space");
  return unexpanded(field, text);
}

/** A double-quoted YAML string, all ASCII: what else is printable differs between parsers. */
export const yaml = (field: string, text: string): string => quoted(unexpanded(field, text));

/** A string of Grafana Alloy, which replaces nothing in it. */
export const alloy = (field: string, text: string): string => quoted(plain(field, text));

/** The same for the OpenTelemetry Collector, which replaces variables in it and takes $$ for $. */
export const openTelemetry = (field: string, text: string): string =>
  quoted(plain(field, text).replaceAll("$", () => "$$"));

const quoted = (text: string): string =>
  JSON.stringify(text).replace(/[^ -~]/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
  });

/** A name that can stand anywhere, also in a path and in a pattern. */
export const word = (field: string, text: string): string => formed(field, text, /^[\w-]+$/, "is not a plain word");

/** A host, as a name or a number, with or without a port. */
export const hostPort = (field: string, text: string): string =>
  formed(field, text, /^(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(:[0-9]{1,5})?$/, "is not a host with a port");

/** An address, an id, a number or a location: one word that means nothing else to a shell, a list or a file. */
export const addressed = (field: string, text: string): string =>
  formed(field, text, /^[\w.:/[\]-]*$/, "is not an address or an id");

/** An address of the web; none while the platform has not told it. */
export function webAddress(field: string, text: string): string {
  const { protocol, username, password } = URL.parse(plain(field, text)) ?? {};
  const isWeb = (protocol === "https:" || protocol === "http:") && !username && !password;
  if (text !== "" && !isWeb) throw new Unwritable(field, "is not an http or https URL");
  return text;
}

function formed(field: string, text: string, form: RegExp, why: string): string {
  if (!form.test(plain(field, text))) throw new Unwritable(field, why);
  return text;
}
