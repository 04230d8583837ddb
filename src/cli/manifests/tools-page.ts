import { z } from "zod";
import { type Group, groups, type Row } from "../../tools/table/row.ts";
import { table } from "../../tools/table/table.ts";

/** docs/tools.md, generated from the table of tools. */
export function toolsPage(): string {
  const sections = Object.entries(groups).map(([group, what]) => {
    const rows = table.filter((row) => row.group === group);
    return [
      `## ${what}`,
      "",
      `Group \`${group as Group}\`, ${rows.length} tools.`,
      "",
      HEADER,
      ...rows.map(rowOf),
    ].join("\n");
  });
  return `${HEAD}\n${sections.join("\n\n")}\n`;
}

const HEADER = "| Tool | Arguments | Reads | When to use it |\n|---|---|---|---|";

const rowOf = (row: Row): string =>
  `| \`${row.name}\` | ${argumentsOf(row)} | ${readsOf(row)} | ${row.description.replaceAll("|", "\\|")} |`;

function argumentsOf({ args }: Row): string {
  const names = Object.entries(args.shape).map(([name, schema]) => {
    const optional = schema instanceof z.ZodType && schema.safeParse(undefined).success;
    return `\`${name}\`${optional ? "?" : ""}`;
  });
  return names.join(", ") || "none";
}

function readsOf({ work }: Row): string {
  if ("text" in work) return "nothing";
  if ("ask" in work) return "cluster and platform";
  const { api, method, path } = work.read;
  return `${api}: \`${method} ${path}\``;
}

const HEAD = `<!-- Generated from src/tools by \`make generate\`. Changes belong there. -->
# Tools

\`mooring tools\` has ${table.length} tools, all of which only read. [The guide](guides/agents.md) shows how to set it up. A question
mark marks an argument that may be left out. Arguments that a tool does not have are refused.
`;
