/** Text for people. It may contain external text, which is escaped when it is printed, not before. */
export type Text = string | Painted;

export type Colour = "red" | "yellow" | "green" | "grey" | "bold";

export interface Painted {
  readonly text: string;
  readonly colour: Colour;
}

const painter =
  (colour: Colour) =>
  (text: string): Painted => ({ text, colour });

export const red = painter("red");
export const yellow = painter("yellow");
export const green = painter("green");
export const grey = painter("grey");
export const bold = painter("bold");

const codes: Record<Colour, string> = { red: "31", yellow: "33", green: "32", grey: "90", bold: "1" };

/** Control characters, line breaks, direction marks and invisible characters. */
const hostile = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;
const shortEscapes: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\u001b": "\\e" };

/** External text on one line, with control characters and invisible characters escaped. */
export const visible = (text: string): string =>
  text.replace(hostile, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return shortEscapes[character] ?? (code < 0x100 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 4)}}`);
  });

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, "0");

/** The same for JSON and double-quoted YAML, with their escapes, so that a program reads the original text. */
export const escaped = (text: string): string =>
  text.replace(hostile, (character) =>
    character === "\n" ? character : [...units(character)].map((unit) => `\\u${hex(unit, 4)}`).join(""),
  );

function* units(character: string) {
  for (let at = 0; at < character.length; at++) yield character.charCodeAt(at);
}

export const plain = (text: Text): string => visible(typeof text === "string" ? text : text.text);

/** One piece of output: escaped, then coloured. */
export function rendered(text: Text, colours: boolean): string {
  const harmless = plain(text);
  if (typeof text === "string" || !colours || harmless === "") return harmless;
  return `\u001b[${codes[text.colour]}m${harmless}\u001b[0m`;
}

/** Width in columns. Wide and combining characters count as one. */
export const widthOf = (text: Text): number => [...plain(text)].length;

/** Rows with a heading as aligned lines. The last column is not padded. */
export function tableLines(heads: readonly string[], rows: readonly (readonly Text[])[]): Text[][] {
  const all: (readonly Text[])[] = [heads, ...rows];
  const widths = heads.map((_, column) => all.reduce((most, row) => Math.max(most, widthOf(row[column] ?? "")), 0));
  return all.map((row) => {
    const last = row.findLastIndex((cell) => widthOf(cell) > 0);
    return row.slice(0, last + 1).flatMap((cell, column) => {
      const gap = column === last ? 0 : (widths[column] ?? 0) - widthOf(cell) + 3;
      return [cell, " ".repeat(gap)];
    });
  });
}
