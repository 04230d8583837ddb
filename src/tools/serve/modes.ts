import { z } from "zod";
import type { Sources } from "../../diagnostics/sources.ts";
import { type Outcome, perform, refusal } from "../perform.ts";
import { anything, type Group, groups, type Row } from "../table/row.ts";
import { table } from "../table/table.ts";
import { described } from "./described.ts";

export const modes = ["eager", "lazy", "dynamic"] as const;
export type Mode = (typeof modes)[number];

/** The tools of one client: which are visible, and how to call them. */
export interface Toolbox {
  visible(): readonly Row[];
  /** Undefined for an unknown tool. */
  call(name: string, args: unknown, sources: Sources): Promise<Outcome> | undefined;
}

/** Large groups that a client loads on demand in lazy mode, each with the tool that loads it. */
const onDemand: Partial<Record<Group, string>> = {
  compute: "ionos_load_compute_tools",
  objectstorage: "ionos_load_objectstorage_tools",
};

/** `changed` is called after a call has made more tools visible. */
export function openToolbox(mode: Mode, changed: () => void, rows: readonly Row[] = table): Toolbox {
  if (mode === "dynamic") return dynamic(rows);
  return mode === "lazy" ? lazy(rows, changed) : toolboxOf(() => rows);
}

const toolboxOf = (visible: () => readonly Row[]): Toolbox => ({
  visible,
  call(name, args, sources) {
    const row = visible().find((each) => each.name === name);
    return row && perform(row, args, sources);
  },
});

function lazy(rows: readonly Row[], changed: () => void): Toolbox {
  const loaded = new Set<Group>();
  const loader = (group: Group, name: string): Row => ({
    name,
    group,
    description: `Loads the tools of this group: ${groups[group]}. Call it first when you need one of them.`,
    args: z.strictObject({}),
    result: z.object({ loaded: z.array(z.string()) }),
    narrow: "",
    work: {
      async ask() {
        const isNew = !loaded.has(group);
        loaded.add(group);
        if (isNew) changed();
        return { loaded: rows.filter((row) => row.group === group).map((row) => row.name) };
      },
    },
  });
  const loaders = Object.entries(onDemand).map(([group, name]) => loader(group as Group, name));
  const isVisible = ({ group }: Row) => onDemand[group] === undefined || loaded.has(group);
  const box = toolboxOf(() => [...loaders, ...rows.filter(isVisible)]);
  return {
    visible: box.visible,
    call(name, args, sources) {
      const hidden = rows.find((row) => row.name === name && !isVisible(row));
      const loadedBy = hidden && onDemand[hidden.group];
      if (loadedBy !== undefined) return Promise.resolve(refusal(`${name} is not loaded: call ${loadedBy} first`));
      return box.call(name, args, sources);
    },
  };
}

const summary = ({ name, group, description }: Row) => ({ name, group, description });

function dynamic(rows: readonly Row[]): Toolbox {
  const finding: Row = {
    name: "ionos_search_tools",
    group: "mooring",
    description: `Finds tools by keywords. Groups: ${Object.entries(groups)
      .map(([group, what]) => `${group} (${what})`)
      .join(", ")}. Then ionos_describe_tools for their arguments and ionos_call_tool.`,
    args: z.strictObject({
      query: z.string().max(256).describe("Words in the name or description; empty for all."),
      group: z.string().max(32).optional().describe("Only this group."),
      limit: z.int().min(0).max(1000).default(10).describe("Most tools to return; 0 for all."),
    }),
    result: z.object({ count: z.int(), tools: z.array(anything), hint: z.string() }),
    narrow: "set a smaller limit",
    work: {
      async ask(_, args) {
        const { query, group, limit } = finding.args.parse(args);
        const found = search(group === undefined ? rows : rows.filter((row) => row.group === group), String(query));
        const hint =
          found.length === 0
            ? `no tool matches; groups: ${Object.keys(groups).join(", ")}`
            : "ionos_describe_tools shows the arguments, ionos_call_tool calls a tool";
        return { count: found.length, tools: found.slice(0, Number(limit) || found.length).map(summary), hint };
      },
    },
  };
  const describing: Row = {
    name: "ionos_describe_tools",
    group: "mooring",
    description: "Arguments of tools, by their names from ionos_search_tools.",
    args: z.strictObject({ names: z.array(z.string().max(128)).min(1).max(50).describe("Names of tools.") }),
    result: z.object({ tools: z.array(anything) }),
    narrow: "name fewer tools",
    work: {
      async ask(_, { names }) {
        const tools = z
          .array(z.string())
          .parse(names)
          .map((name) => {
            const row = rows.find((each) => each.name === name);
            if (!row) return { name, error: "there is no such tool", did_you_mean: nearest(rows, name) };
            return { ...summary(row), input_schema: described(row).inputSchema };
          });
        return { tools };
      },
    },
  };
  const calling: Row = {
    name: "ionos_call_tool",
    group: "mooring",
    description: "Calls a tool by its name, with the arguments that ionos_describe_tools shows.",
    args: z.strictObject({
      name: z.string().max(128).describe("Name of the tool."),
      arguments: z.record(z.string(), z.unknown()).default({}).describe("Its arguments."),
    }),
    result: anything,
    narrow: "",
    // Not used: `call` below performs the named tool.
    work: { text: "", as: "" },
  };
  const own = [finding, describing, calling];
  return {
    visible: () => own,
    call(name, args, sources) {
      if (name !== calling.name) return toolboxOf(() => own).call(name, args, sources);
      const asked = calling.args.safeParse(args ?? {});
      if (!asked.success) return Promise.resolve(refusal(`${name}: it takes name and arguments`));
      const wanted = String(asked.data.name);
      const row = rows.find((each) => each.name === wanted);
      if (row) return perform(row, asked.data.arguments, sources);
      return Promise.resolve(refusal(`there is no tool ${wanted}; did you mean ${nearest(rows, wanted).join(", ")}?`));
    },
  };
}

const wordsOf = (text: string) => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];

/** Rows with the most matching words first. A word in the name counts more. */
function search(rows: readonly Row[], query: string): Row[] {
  const words = wordsOf(query);
  if (words.length === 0) return [...rows];
  const score = ({ name, description }: Row) =>
    words.reduce((sum, word) => {
      const stem = word.replace(/s$/, "");
      return sum + (name.includes(stem) ? 3 : 0) + (description.toLowerCase().includes(stem) ? 1 : 0);
    }, 0);
  return rows
    .map((row) => ({ row, score: score(row) }))
    .filter((each) => each.score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ row }) => row);
}

/** Three names similar to a wrong one: by common words first, then by letter pairs. */
export function nearest(rows: readonly Row[], name: string): string[] {
  const given = pairsOf(name.slice(0, 128).toLowerCase());
  const likeness = (other: string) => {
    const pairs = pairsOf(other);
    return (2 * [...pairs].filter((pair) => given.has(pair)).length) / (pairs.size + given.size);
  };
  const alike = rows.toSorted((a, b) => likeness(b.name) - likeness(a.name));
  const named = [...search(rows, name.replaceAll("_", " ")), ...alike].map((row) => row.name);
  return [...new Set(named)].slice(0, 3);
}

/** Pairs of adjacent letters, and of letters with one between them: "lst" has two pairs of "list". */
const pairsOf = (text: string): Set<string> =>
  new Set([...text].flatMap((letter, at) => [letter + (text[at + 1] ?? ""), letter + (text[at + 2] ?? "")]));
