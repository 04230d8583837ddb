import { broken } from "./series.ts";

export interface TextSample {
  name: string;
  labels: Record<string, string>;
  value: number;
  /** Absent: the line has none. */
  timestamp?: number;
}

/** One sample of the text exposition format: `name{label="value", ...} value [timestamp]`. */
export function readSample(line: string, where: string): TextSample {
  let position = 0;
  /** The match of the expression at the present position; skips the blanks after it. */
  const next = (expression: RegExp): string | undefined => {
    expression.lastIndex = position;
    const found = expression.exec(line)?.[0];
    if (found === undefined) return undefined;
    position += found.length;
    while (line[position] === " " || line[position] === "\t") position += 1;
    return found;
  };
  const expect = (expression: RegExp, what: string): string => {
    const found = next(expression);
    if (found === undefined) throw broken(`${where}: ${what} is expected at column ${position + 1}`);
    return found;
  };

  next(/[ \t]+/y);
  const name = expect(/[A-Za-z_:][\w:]*/y, "the name of a metric");
  const labels = new Map<string, string>();
  if (next(/\{/y) !== undefined) {
    while (next(/\}/y) === undefined) {
      const label = expect(/[A-Za-z_]\w*/y, "the name of a label or }");
      expect(/=/y, "=");
      const quoted = expect(/"(?:[^"\\]|\\["\\n])*"/y, 'a value in quotes, with no escapes but \\\\, \\" and \\n');
      if (labels.has(label) || label === "__name__") throw broken(`${where}: the label ${label} is there already`);
      labels.set(label, unescaped(quoted.slice(1, -1)));
      if (next(/,/y) === undefined && line[position] !== "}") {
        throw broken(`${where}: , or } is expected at column ${position + 1}`);
      }
    }
  }
  const value = numberIn(expect(/[^ \t]+/y, "a value"), where);
  const timestamp = next(/[^ \t]+/y);
  if (timestamp !== undefined && !/^\d{1,15}$/.test(timestamp)) {
    throw broken(`${where}: "${timestamp}" is no timestamp in milliseconds`);
  }
  if (position < line.length) throw broken(`${where}: nothing more is expected at column ${position + 1}`);
  return {
    name,
    // A label without a value is the same as none.
    labels: Object.fromEntries([...labels].filter(([, each]) => each !== "")),
    value,
    ...(timestamp !== undefined && { timestamp: Number(timestamp) }),
  };
}

const unescaped = (text: string) => text.replaceAll(/\\(.)/g, (_, each) => (each === "n" ? "\n" : each));

function numberIn(text: string, where: string): number {
  if (/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text);
  if (/^nan$/i.test(text)) return Number.NaN;
  const infinite = /^([+-]?)inf(inity)?$/i.exec(text);
  if (infinite !== null) return infinite[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  throw broken(`${where}: "${text}" is no number`);
}
