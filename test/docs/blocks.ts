import { spawnSync } from "node:child_process";

/** A command on a page, and its shown output. */
export interface Command {
  line: number;
  /** First line of its block. */
  block: number;
  text: string;
  shown: string[];
}

/** A file that a page asks its reader to create. */
export interface PageFile {
  name: string;
  text: string;
}

export interface Page {
  commands: Command[];
  files: PageFile[];
  /** Blocks that are marked as not run, with the reason. */
  left: { line: number; why: string }[];
  /** Commands in blocks of another language. */
  unseen: { line: number; text: string }[];
}

const fence = /^(?<indent> *)```(?<language>\w*)$/;
const command = /^(\$ |(?:bin\/)?(?:mooring|kubectl|helm|make|npm|npx|curl|git|docker) )/;
const marked = /<!-- (?<what>not run|file): (?<text>.+) -->/;

/**
 * Every block of language `console` has commands, each after "$ ", unless the line before it is `<!-- not run: why
 * -->`. `<!-- file: NAME -->` there gives a block of another language a file name.
 */
export function readPage(markdown: string): Page {
  const page: Page = { commands: [], files: [], left: [], unseen: [] };
  const lines = markdown.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const { indent = "", language } = fence.exec(lines[at] ?? "")?.groups ?? {};
    if (language === undefined) continue;
    const end = lines.indexOf(`${indent}\`\`\``, at + 1);
    if (end < 0) throw new Error(`line ${at + 1}: the block has no end`);
    const body = lines.slice(at + 1, end).map((line) => line.slice(indent.length));
    const mark = marked.exec(lines[at - 1] ?? "")?.groups;
    if (mark?.what === "file") page.files.push({ name: mark.text ?? "", text: `${body.join("\n")}\n` });
    else if (language === "console" && mark) page.left.push({ line: at + 1, why: mark.text ?? "" });
    else if (language === "console") page.commands.push(...commandsIn(body, at + 2));
    else
      for (const [index, text] of body.entries())
        if (command.test(text)) page.unseen.push({ line: at + 2 + index, text });
    at = end;
  }
  return page;
}

/** bash decides where a command ends; the following lines are its output. */
const isWhole = (text: string): boolean => {
  const { status, stderr } = spawnSync("bash", ["-n"], { input: text, encoding: "utf8" });
  return status === 0 && stderr === "" && !text.endsWith("\\");
};

function commandsIn(body: readonly string[], firstLine: number): Command[] {
  const commands: Command[] = [];
  for (let at = 0; at < body.length; at++) {
    const line = body[at] ?? "";
    if (!line.startsWith("$ ")) {
      const last = commands.at(-1);
      if (!last) throw new Error(`line ${firstLine + at}: a block of commands begins with "$ "`);
      if (line.trim() !== "") last.shown.push(line);
      continue;
    }
    const begin = at;
    let text = line.slice(2);
    while (!isWhole(text)) {
      if (++at >= body.length) throw new Error(`line ${firstLine + begin}: the command has no end`);
      text += `\n${body[at]}`;
    }
    commands.push({ line: firstLine + begin, block: firstLine, text, shown: [] });
  }
  return commands;
}

/** Removes parts that differ between runs, and the spacing of tables. */
function essence(text: string): string {
  return text
    .replace(/[█▉▊▋▌▍▎▏]+/g, "")
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "#")
    .replace(/\b(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{6,}\b/g, "#")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, "#")
    .replace(/\b\d+(\.\d+)? [KMGT]?i?B\b/g, "#")
    .replace(/\b(\d+[dhms])+\b/g, "#")
    .replace(/\d[\d,.:]*/g, "#")
    .replace(/\s+/g, " ")
    .trim();
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Shown lines that were not printed; "…" matches anything. */
export function missing(shown: readonly string[], printed: string): string[] {
  const lines = printed.split("\n").map(essence);
  return shown.filter((line) => {
    if (line.trim() === "…") return false;
    const pattern = new RegExp(`^${essence(line).split("…").map(escaped).join(".*")}$`);
    return !lines.some((each) => pattern.test(each));
  });
}

const LOOKS = /^kubectl (-n \S+ )?(get|describe|events)\b/;
const CHANGES = /^kubectl (-n \S+ )?(apply|create|patch|annotate|label|scale|delete|replace|edit)\b/;
const WAITS = /^kubectl (-n \S+ )?(wait|rollout)\b|^(until|while) /m;

/** Read-only commands. */
export const onlyReads = (text: string): boolean => /^kubectl (-n \S+ )?explain\b/.test(text) || LOOKS.test(text);

/** Commands that read the result of a change in the same block without a wait in between: a race for the reader. */
export function races({ commands }: Page): Command[] {
  let changed = false;
  let within = 0;
  return commands.filter((command) => {
    const { text, block } = command;
    if (block !== within) changed = false;
    within = block;
    if (WAITS.test(text)) changed = false;
    else if (CHANGES.test(text)) changed = !isRefusal(command);
    return changed && LOOKS.test(text);
  });
}

/** Whether a command is expected to be refused. */
export const isRefusal = ({ shown }: Command): boolean =>
  shown.some((line) => /^(error:|Error from server|The \S+ ".*" is invalid)/.test(line));
