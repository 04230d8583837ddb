/** A field, an index or all of a list, or those whose field has a value. */
const step = /\.((?:\\.|[^.[\\])+)|\[(\*|\d+)\]|\[\?\(@\.(\w+)=="([^"]*)"\)\]/y;

const valuesOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value !== null && typeof value === "object" ? Object.values(value) : [];

const field = (value: unknown, name: string): unknown =>
  value !== null && typeof value === "object" ? Reflect.get(value, name) : undefined;

function follow(from: unknown, path: string): unknown[] {
  let found = [from];
  for (step.lastIndex = 0; step.lastIndex < path.length; ) {
    const [, name, index, key, wanted] = step.exec(path) ?? [];
    if (name !== undefined) found = found.map((each) => field(each, name.replaceAll("\\", "")));
    else if (index === "*") found = found.flatMap(valuesOf);
    else if (index !== undefined) found = found.map((each) => valuesOf(each)[Number(index)]);
    else if (key !== undefined) found = found.flatMap(valuesOf).filter((each) => field(each, key) === wanted);
    else throw new Error(`${path} is more JSONPath than there is here`);
    found = found.filter((each) => each !== undefined);
  }
  return found;
}

const sorted = (_: string, value: unknown): unknown =>
  value !== null && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;

const print = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, sorted));

/** The output of `kubectl get -o jsonpath=…` for an object, for the paths that tests use. */
export const jsonPath = (object: unknown, template: string): string =>
  template.replaceAll(/\{([^{}]*)\}/g, (_, path: string) => follow(object, path).map(print).join(" "));
