import { isScalar, visit } from "yaml";
import { yamlText } from "../../diagnostics/manifest-text.ts";
import { escaped, rendered, type Text, tableLines, visible } from "./text.ts";

/** The part of a stream that a command needs. */
export interface Stream {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
  write(text: string): unknown;
}

export interface Surroundings {
  stdout: Stream;
  stderr: Stream;
  env: Readonly<Record<string, string | undefined>>;
}

/** The output of a command. It escapes external text for every command, and nothing else writes to stdout. */
export interface Screen {
  /** --output; "table" for commands without it. */
  readonly format: string;
  readonly isTerminal: boolean;
  /** One line of the answer. */
  line(...parts: Text[]): void;
  /** Aligned rows under a heading. */
  table(heads: readonly string[], rows: readonly (readonly Text[])[]): void;
  /** A document for programs: YAML with -o yaml, else JSON. */
  data(value: unknown): void;
  /** The answer: the document for -o json and yaml, else the output of `people`. */
  answer(value: unknown, people: () => void): void;
  /** A remark that is not part of the answer: goes to stderr. */
  note(...parts: Text[]): void;
  /** Progress of long work: one changing line on a terminal, nothing elsewhere. */
  progress(done: number, what: string): void;
  /** Changing lines: redrawn in place on a terminal; elsewhere every new line is written once. */
  live(lines: readonly (readonly Text[])[]): void;
}

const PROGRESS_AFTER_MS = 700;

export function openScreen({ stdout, stderr, env }: Surroundings, format: string, now: () => number): Screen {
  const colours = (stream: Stream) => stream.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
  const began = now();
  let isProgressShown = false;
  let drawn = 0;
  let lastLines = new Set<string>();

  const clear = () => {
    if (isProgressShown) stderr.write("\r\u001b[K");
    isProgressShown = false;
  };
  const write = (stream: Stream, parts: readonly Text[]) => {
    clear();
    stream.write(`${parts.map((part) => rendered(part, colours(stream))).join("")}\n`);
  };
  const screen: Screen = {
    format,
    isTerminal: stdout.isTTY === true,
    line: (...parts) => write(stdout, parts),
    table: (heads, rows) => {
      for (const line of tableLines(heads, rows)) write(stdout, line);
    },
    data(value) {
      clear();
      stdout.write(format === "yaml" ? yamlOf(value) : `${escaped(JSON.stringify(value, undefined, 2))}\n`);
    },
    answer(value, people) {
      if (format === "json" || format === "yaml") screen.data(value);
      else people();
    },
    note: (...parts) => write(stderr, parts),
    progress(done, what) {
      if (stderr.isTTY !== true || drawn > 0 || now() - began < PROGRESS_AFTER_MS) return;
      stderr.write(`\r\u001b[K${visible(`${what}: ${done} …`)}`);
      isProgressShown = true;
    },
    live(lines) {
      clear();
      if (stdout.isTTY === true) {
        const shown = fitting(lines, stdout);
        stdout.write(`${drawn > 0 ? `\u001b[${drawn}A` : ""}\u001b[J`);
        for (const line of shown) write(stdout, line);
        drawn = shown.length;
        return;
      }
      const texts = lines.map((line) => ({ line, text: line.map((part) => rendered(part, false)).join("") }));
      for (const { line, text } of texts) if (!lastLines.has(text)) write(stdout, line);
      lastLines = new Set(texts.map(({ text }) => text));
    },
  };
  return screen;
}

/** Truncates lines to the width and the list to the height of the terminal, so that redrawing hits the right place. */
function fitting(lines: readonly (readonly Text[])[], { columns, rows }: Stream): Text[][] {
  // A terminal of unknown size reports 0.
  const most = (rows || 50) - 1;
  const shown =
    lines.length <= most ? lines : [...lines.slice(0, most - 1), [`… ${lines.length - most + 1} more lines`]];
  return shown.map((line) => {
    let room = (columns || 200) - 1;
    return line.flatMap((part) => {
      const text = [...visible(typeof part === "string" ? part : part.text)].slice(0, Math.max(0, room)).join("");
      room -= [...text].length;
      return text === "" ? [] : [typeof part === "string" ? text : { ...part, text }];
    });
  });
}

/** YAML without terminal control characters: such values are double-quoted and escaped. */
export function yamlOf(value: unknown): string {
  const text = yamlText(value, (document) =>
    visit(document, {
      Scalar(_, node) {
        if (isScalar(node) && typeof node.value === "string" && escaped(node.value) !== node.value) {
          node.type = "QUOTE_DOUBLE";
        }
      },
    }),
  );
  return escaped(text);
}
