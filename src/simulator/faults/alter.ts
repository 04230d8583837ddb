/** What an answer shows instead of the truth. */
export interface Alteration {
  /** Only what has this id; undefined: all that the answer is about. */
  id?: string | undefined;
  /** Values, and fields that are left out, by the path of their field. */
  set: Readonly<Record<string, unknown>>;
  remove: readonly string[];
}

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The body of an answer with the alterations made to its resource or, where it is a list, to each item. */
export function alter(body: unknown, alterations: readonly Alteration[]): unknown {
  if (alterations.length === 0 || !isFields(body)) return body;
  const copy: Fields = structuredClone(body);
  const shown = Array.isArray(copy.items) ? copy.items.filter(isFields) : [copy];
  for (const { id, set, remove } of alterations) {
    for (const each of shown.filter((item) => id === undefined || item.id === id)) {
      for (const [path, value] of Object.entries(set)) put(each, path, value);
      for (const path of remove) put(each, path, undefined);
    }
  }
  return copy;
}

/** Undefined takes the field away. What the path leads through is there already, or the path leads nowhere. */
function put(item: Fields, path: string, value: unknown): void {
  const names = path.split(".");
  const last = names.pop() ?? "";
  let holder: unknown = item;
  for (const name of names) holder = isFields(holder) ? holder[name] : undefined;
  if (isFields(holder)) holder[last] = value;
}
