import type { Flag, FlagTable } from "./flags.ts";

/** The parts of a command's help. */
export interface Described {
  name: string;
  /** The arguments after the name; one line per form. */
  usage: readonly string[];
  /** The purpose, in full sentences. */
  description: string;
  /** Commands, each with its effect. */
  examples: readonly (readonly [command: string, what: string])[];
  flags: FlagTable;
  /** Exit codes besides 1 and 130. 2 is wrong usage unless it is listed here. */
  exitCodes?: Readonly<Record<number, string>>;
}

const WIDTH = 118;
const FLAG_WIDTH = 26;

export function helpOf({ name, usage, description, examples, flags, exitCodes = {} }: Described): string {
  const calls = usage.map((each, at) => `${at === 0 ? "usage:" : "      "} mooring ${name} ${each}`.trimEnd());
  const codes = { 0: "done", 1: "failed", 2: "wrong usage", 130: "interrupted", ...exitCodes };
  return [
    ...calls,
    "",
    ...wrapped(description, WIDTH),
    "",
    ...Object.entries(flags).flatMap(([flag, each]) => flagLines(flag, each)),
    "",
    "Examples:",
    ...examples.flatMap(([command, what]) => [`  # ${what}`, `  ${command}`]),
    "",
    ...wrapped(
      `Exit codes: ${Object.entries(codes)
        .map(([code, what]) => `${code} ${what}`)
        .join(", ")}.`,
      WIDTH,
    ),
  ].join("\n");
}

function flagLines(name: string, { short, value, help, default: usual, multiple }: Flag): string[] {
  const head = `  ${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
  const text = `${help}${multiple ? "; repeatable" : ""}${usual === undefined || usual === "" ? "" : ` (default ${usual})`}`;
  const lines = wrapped(text, WIDTH - FLAG_WIDTH);
  const indent = " ".repeat(FLAG_WIDTH);
  if (head.length >= FLAG_WIDTH) return [head, ...lines.map((line) => indent + line)];
  return lines.map((line, at) => (at === 0 ? head.padEnd(FLAG_WIDTH) : indent) + line);
}

/** Wraps words at this width; line breaks of the text stay. */
export function wrapped(text: string, width: number): string[] {
  return text.split("\n").flatMap((paragraph) => {
    const lines: string[] = [];
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else line = line === "" ? word : `${line} ${word}`;
    }
    return [...lines, line];
  });
}
