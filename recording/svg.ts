/** A command and what it printed, with the escape sequences of a terminal. */
export interface Scene {
  command: string;
  output: string;
}

interface Style {
  bold: boolean;
  dim: boolean;
  colour: string;
}

const plain: Style = { bold: false, dim: false, colour: "" };
const COLOURS: Readonly<Record<number, string>> = {
  31: "#ff7b72",
  32: "#7ee787",
  33: "#e3b341",
  34: "#79c0ff",
  35: "#d2a8ff",
  36: "#56d4dd",
  90: "#8b949e",
};
const WIDTH = 8.4;
const HEIGHT = 18;
const MARGIN = 16;
/** How long a command is shown alone, and how long a line of output takes to read. */
const TYPED_SECONDS = 1;
const LINE_SECONDS = 0.45;
const LEAST_SECONDS = 3;

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function changed(style: Style, codes: readonly number[]): Style {
  let next = style;
  for (const code of codes.length === 0 ? [0] : codes) {
    if (code === 0) next = plain;
    else if (code === 1) next = { ...next, bold: true };
    else if (code === 2) next = { ...next, dim: true };
    else if (code === 22) next = { ...next, bold: false, dim: false };
    else if (code === 39) next = { ...next, colour: "" };
    else next = { ...next, colour: COLOURS[code] ?? next.colour };
  }
  return next;
}

const span = (text: string, { bold, dim, colour }: Style): string => {
  const attributes = [
    ...(colour ? [`fill="${colour}"`] : []),
    ...(bold ? ['font-weight="bold"'] : []),
    ...(dim ? ['opacity="0.6"'] : []),
  ];
  return attributes.length === 0 ? escaped(text) : `<tspan ${attributes.join(" ")}>${escaped(text)}</tspan>`;
};

/** The lines of an output as SVG text. Escape sequences other than colours are dropped. */
export function linesOf(output: string): string[] {
  let style = plain;
  return output
    .replaceAll("\r\n", "\n")
    .trimEnd()
    .split("\n")
    .map((line) =>
      line
        // A progress line is overwritten by what follows it.
        .slice(line.lastIndexOf("\r") + 1)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
        .split(/(\x1b\[[0-9;?]*[A-Za-z])/)
        .map((part) => {
          if (!part.startsWith("\x1b[")) return part === "" ? "" : span(part, style);
          if (part.endsWith("m")) style = changed(style, part.slice(2, -1).split(";").filter(Boolean).map(Number));
          return "";
        })
        .join(""),
    );
}

const text = (line: string, row: number): string =>
  `<text x="${MARGIN}" y="${MARGIN + HEIGHT * (row + 1)}" xml:space="preserve">${line}</text>`;

/** An animation that shows the scenes one after the other and repeats. */
export function svgOf(scenes: readonly Scene[], columns: number): string {
  const drawn = scenes.map(({ command, output }) => {
    const lines = linesOf(output);
    const seconds = TYPED_SECONDS + Math.max(LEAST_SECONDS, lines.length * LINE_SECONDS);
    return { command, lines, seconds };
  });
  const total = drawn.reduce((sum, { seconds }) => sum + seconds, 0);
  const rows = Math.max(...drawn.map(({ lines }) => lines.length)) + 2;
  const [width, height] = [Math.ceil(columns * WIDTH) + 2 * MARGIN, rows * HEIGHT + 2 * MARGIN];
  let at = 0;
  /** A CSS animation that shows a class only from one moment to another. */
  const during = (name: string, from: number, to: number): string => {
    const percent = (seconds: number) => `${((100 * seconds) / total).toFixed(3)}%`;
    const hidden = from === 0 ? "" : "0%{visibility:hidden}";
    const gone = to >= total ? "" : `${percent(to)}{visibility:hidden}`;
    return `@keyframes ${name}{${hidden}${percent(from)}{visibility:visible}${gone}}.${name}{animation:${name} ${total.toFixed(2)}s step-end infinite}`;
  };
  const rules: string[] = [];
  const groups = drawn.map(({ command, lines, seconds }, nth) => {
    rules.push(during(`c${nth}`, at, at + seconds), during(`o${nth}`, at + TYPED_SECONDS, at + seconds));
    at += seconds;
    const prompt = text(`<tspan fill="#7ee787">$</tspan> ${escaped(command)}`, 0);
    return `<g class="c${nth}">${prompt}</g>\n<g class="o${nth}">${lines.map((line, row) => text(line, row + 1)).join("\n")}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>${escaped(drawn.map(({ command }) => command).join(", "))}</title>
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#e6edf3}${rules.join("")}</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${groups.join("\n")}
</svg>
`;
}
