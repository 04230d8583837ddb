/**
 * UUIDs of the platform in lower case. It may write one in either case, and not always in the same; everything here compares
 * ids as texts.
 */
const upper = /(?=[\da-f-]*[A-F])[\dA-Fa-f]{8}(?:-[\dA-Fa-f]{4}){3}-[\dA-Fa-f]{12}/;
const inText = new RegExp(`(?<![\\w-])${upper.source}(?![\\w-])`, "g");
const quoted = new RegExp(`"${upper.source}"`);
const whole = new RegExp(`^${upper.source}$`);

/** Texts that people choose. They may look like ids and are none. */
const chosen: ReadonlySet<string> = new Set(["name", "description", "key", "value"]);

/** Every UUID in a text, such as a path. */
export const withLowerUuids = (text: string): string => text.replace(inText, (id) => id.toLowerCase());

/** The value with all ids that are UUIDs in lower case. `from` is its JSON, in which an id is rarely in upper case. */
export const withLowerIds = (value: unknown, from: string): unknown => (quoted.test(from) ? lowered(value) : value);

function lowered(value: unknown, field = ""): unknown {
  if (typeof value === "string") return chosen.has(field) || !whole.test(value) ? value : value.toLowerCase();
  if (Array.isArray(value)) return value.map((each) => lowered(each, field));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, lowered(each, name)]));
}
