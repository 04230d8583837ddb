import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { linesOf, svgOf } from "../recording/svg.ts";
import { root } from "./processes.ts";

it("a recording has the colours of a terminal, and no other escape sequence", () => {
  expect(linesOf("a \x1b[32mgreen\x1b[0m <b>\x1b[1m bold\x1b[22m &\x1b[K\r\n\x1b[2mdim")).toEqual([
    'a <tspan fill="#7ee787">green</tspan> &lt;b&gt;<tspan font-weight="bold"> bold</tspan> &amp;',
    '<tspan opacity="0.6">dim</tspan>',
  ]);
});

it("a recording does not show progress that was overwritten", () => {
  expect(linesOf("\robjects read: 1 …\robjects read: 2 …\r\x1b[Kresult\r\n")).toEqual(["result"]);
});

it("a recording shows one command after the other", () => {
  const svg = svgOf(
    [
      { command: "first", output: "one" },
      { command: "second", output: "two" },
    ],
    80,
  );
  expect([...svg.matchAll(/@keyframes (\w+)\{(.*?)\}\}/g)].map(([, name, frames]) => [name, frames])).toEqual([
    ["c0", "0.000%{visibility:visible}50.000%{visibility:hidden"],
    ["o0", "0%{visibility:hidden}12.500%{visibility:visible}50.000%{visibility:hidden"],
    ["c1", "0%{visibility:hidden}50.000%{visibility:visible"],
    ["o1", "0%{visibility:hidden}62.500%{visibility:visible"],
  ]);
});

it("the recording in README.md shows tree, plan and why", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [, path = ""] = /!\[[^\]]*\]\((docs\/pictures\/\S+\.svg)\)/.exec(readme) ?? [];
  const shown = readFileSync(join(root, path), "utf8");
  for (const command of ["tree", "plan", "why"]) expect(shown).toContain(`mooring ${command} `);
});
