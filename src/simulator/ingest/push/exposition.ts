import type { Series } from "../../telemetry/samples.ts";
import { readSample } from "./exposition-sample.ts";
import { broken, unacceptable } from "./series.ts";

const types = ["counter", "gauge", "histogram", "summary", "untyped"] as const;
type Type = (typeof types)[number];

interface Family {
  type?: Type;
  help?: boolean;
  sampled?: boolean;
}

/**
 * Reads the text exposition format, strictly: what is wrong is refused with the number of its line. Samples without a
 * timestamp are of the instant `now`.
 */
export function readExposition(text: string, now: number): Series[] {
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  const lines = text.split("\n");
  if (lines.pop() !== "") throw broken(`line ${lines.length + 1}: the last line must end with a line feed`);
  return lines.flatMap((line, index) => {
    const where = `line ${index + 1}`;
    if (/^[ \t]*$/.test(line)) return [];
    if (/^[ \t]*#/.test(line)) {
      readComment(families, line, where);
      return [];
    }
    const { name, labels, value, timestamp = now } = readSample(line, where);
    const base = baseOf(families, name, where);
    families.set(base, { ...families.get(base), sampled: true });
    checkLabels(families.get(base)?.type, { name, base, labels }, where);
    const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
    const identity = JSON.stringify([name, sorted, timestamp]);
    if (seen.has(identity)) throw unacceptable(`${where}: ${name} has these labels and this time already`);
    seen.add(identity);
    return [{ labels: { __name__: name, ...labels }, samples: [{ value, timestamp }] }];
  });
}

/** Reads `# TYPE` and `# HELP`, each once per name; other comments are ignored. */
function readComment(families: Map<string, Family>, line: string, where: string): void {
  const [, word, rest = ""] = /^[ \t]*#[ \t]+(TYPE|HELP)(?:[ \t]+(.*))?$/.exec(line) ?? [];
  if (word === undefined) return;
  const [, name, more = ""] = /^([A-Za-z_:][\w:]*)(?:[ \t]+(.*))?$/.exec(rest.trimEnd()) ?? [];
  if (name === undefined) throw broken(`${where}: ${word} must be followed by the name of a metric`);
  const family = families.get(name) ?? {};
  if (word === "HELP") {
    if (family.help) throw broken(`${where}: ${name} has a second HELP line`);
    families.set(name, { ...family, help: true });
    return;
  }
  const type = types.find((each) => each === more);
  if (type === undefined) throw broken(`${where}: the type of ${name} must be one of ${types.join(", ")}`);
  if (family.type !== undefined) throw broken(`${where}: ${name} has a second TYPE line`);
  if (family.sampled) throw broken(`${where}: the TYPE line of ${name} must come before its samples`);
  families.set(name, { ...family, type });
}

/** The metric that a sample belongs to: `x_bucket`, `x_sum` and `x_count` are parts of a histogram or summary `x`. */
function baseOf(families: Map<string, Family>, name: string, where: string): string {
  const [, stem = "", suffix] = /^(.+)_(bucket|sum|count)$/.exec(name) ?? [];
  const type = families.get(stem)?.type;
  if (type === "histogram" || (type === "summary" && suffix !== "bucket")) return stem;
  if (families.get(name)?.type === "histogram") {
    throw unacceptable(
      `${where}: ${name} is a histogram: its samples are ${name}_bucket, ${name}_sum and ${name}_count`,
    );
  }
  return name;
}

interface Part {
  name: string;
  base: string;
  labels: Readonly<Record<string, string>>;
}

function checkLabels(type: Type | undefined, { name, base, labels }: Part, where: string): void {
  const needs = (label: string) => {
    const bound = labels[label];
    if (bound !== undefined && bound !== "" && !Number.isNaN(Number(bound.replace(/^\+?Inf$/, "Infinity")))) return;
    throw unacceptable(`${where}: ${name} of a ${type} needs the label ${label} with a number`);
  };
  if (type === "histogram" && name === `${base}_bucket`) needs("le");
  if (type === "summary" && name === base) needs("quantile");
}
