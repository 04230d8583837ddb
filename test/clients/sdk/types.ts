import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const dist = dirname(createRequire(import.meta.url).resolve("@ionos-cloud/sdk-nodejs"));

function* declarations(folder: string): Generator<string> {
  for (const name of readdirSync(join(dist, folder)).filter((each) => each.endsWith(".d.ts"))) {
    yield readFileSync(join(dist, folder, name), "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");
  }
}

interface Field {
  type: string;
  required: boolean;
}

const interfaces = new Map<string, Map<string, Field>>();
const enums = new Map<string, unknown[]>();
for (const text of declarations("model")) {
  for (const [, name = "", body = ""] of text.matchAll(/export interface (\w+) \{\n([\s\S]*?)\n\}/g)) {
    const fields = body.matchAll(/^ {4}(\w+)(\??): ([\s\S]*?);$/gm);
    interfaces.set(
      name,
      // The SDK adds an underscore to reserved words; the wire format does not.
      new Map(
        [...fields].map(([, field = "", mark, type = ""]) => [
          field.replace(/^_(?!links$)/, ""),
          { type, required: mark === "" },
        ]),
      ),
    );
  }
  for (const [, name = "", body = ""] of text.matchAll(/export declare enum (\w+) \{\n([\s\S]*?)\n\}/g)) {
    enums.set(
      name,
      [...body.matchAll(/= "(.*)"/g)].map(([, value]) => value),
    );
  }
}

const answers = new Map<string, string>();
for (const text of declarations("api")) {
  const methods = text.matchAll(/^ {4}(\w+)\(.*\): Promise<import\("axios"\)\.AxiosResponse<(.*)>>;$/gm);
  for (const [, method = "", type = ""] of methods) answers.set(method, type);
}

/** The names of all methods of the SDK that read. */
export const declaredReads = [...answers.keys()].filter((method) => /Get$|FindBy/.test(method));

/** Differences between an answer and the SDK's own types; null counts as absent. */
export function mismatches(method: string, answer: unknown): string[] {
  const type = answers.get(method);
  return type === undefined ? [`the SDK has no method ${method}`] : compare(answer, type, "");
}

function compare(value: unknown, declared: string, path: string): string[] {
  if (value === undefined || value === null) return [];
  const type = declared.replace(" | null", "");
  const list = /^(?:Array<(.*)>|(.*)\[\])$/.exec(type);
  const fault = [`${path || "the answer"} is not ${type} but ${enums.has(type) ? value : typeof value}`];
  if (list !== null) {
    if (!Array.isArray(value)) return fault;
    return value.flatMap((each, index) => compare(each, list[1] ?? list[2] ?? "", `${path}[${index}]`));
  }
  const allowed = enums.get(type);
  if (allowed !== undefined) return allowed.includes(value) ? [] : fault;
  const fields = interfaces.get(type);
  if (fields === undefined) return typeof value === (type.startsWith("{") ? "object" : type) ? [] : fault;
  if (typeof value !== "object" || Array.isArray(value)) return fault;
  const given = new Map(Object.entries(value));
  return [...fields].flatMap(([name, field]) => {
    // A reference has no properties, although the SDK requires them.
    const missing = field.required && name !== "properties" && (given.get(name) ?? undefined) === undefined;
    return missing ? [`${path}.${name} is missing`] : compare(given.get(name), field.type, `${path}.${name}`);
  });
}
