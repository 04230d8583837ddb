import { describe, expect, it } from "vitest";
import * as activity from "../../src/cli/activity/flags.ts";
import * as cluster from "../../src/cli/cluster.ts";
import * as demo from "../../src/cli/demo.ts";
import * as flowlogs from "../../src/cli/flowlogs/flags.ts";
import { people } from "../../src/cli/people/commands.ts";
import * as rights from "../../src/cli/rights.ts";
import * as tools from "../../src/cli/tools/flags.ts";
import * as gateway from "../../src/gateway/config.ts";
import { flags, usage } from "../../src/operator/config.ts";
import * as simulator from "../../src/simulator/command.ts";
import { mooring, run } from "../processes.ts";

interface Flag {
  type: "string" | "boolean";
  default?: string | boolean;
  short?: string;
}

const commands: Record<string, { usage: string; options: Record<string, Flag> }> = {
  operator: { usage: usage(), options: flags },
  gateway: { usage: gateway.usage(), options: gateway.flags },
  activity,
  cluster,
  demo,
  flowlogs,
  rights,
  simulator,
  tools,
};
for (const [name, { load }] of Object.entries(people)) {
  const { help, flags: options } = await load();
  commands[name] = { usage: help, options };
}

/** The help of each flag, from its own line to the line of the next flag. */
function entriesOf(text: string): Map<string, { short: string | undefined; text: string }> {
  const heads = [...text.matchAll(/^ {2}(?:-(\w), )?--([a-z-]+)/gm)];
  return new Map(
    heads.map(({ index, 1: short, 2: name = "" }, place) => [
      name,
      { short, text: text.slice(index, heads[place + 1]?.index).replace(/\s+/g, " ") },
    ]),
  );
}

describe.each(Object.entries(commands))("mooring %s --help", (_, { usage: text, options }) => {
  const entries = entriesOf(text);

  it("has every flag, and no other", () => {
    expect([...entries.keys()].sort()).toEqual(Object.keys(options).sort());
    for (const [flag, { short }] of Object.entries(options)) expect(entries.get(flag)?.short, flag).toBe(short);
  });

  it("has every default", () => {
    for (const [flag, { default: value }] of Object.entries(options)) {
      if (typeof value === "string" && value !== "") expect(entries.get(flag)?.text).toContain(`(default ${value}`);
    }
  });

  it("fits a terminal", () => {
    expect(text.split("\n").filter((line) => line.length > 125)).toEqual([]);
  });
});

it("is what the command prints", async () => {
  expect(await run(mooring, ["operator", "-h"])).toEqual({ code: 0, stdout: `${usage()}\n`, stderr: "" });
});
