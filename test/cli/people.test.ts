import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { candidates } from "../../src/cli/frame/completion.ts";
import { parseFlags } from "../../src/cli/frame/flags.ts";
import { people } from "../../src/cli/people/commands.ts";
import { manifestsIn } from "../../src/cli/people/objects/manifest-files.ts";
import { objectsIn } from "../../src/cli/people/objects/object-args.ts";
import { age } from "../../src/cli/people/objects/words.ts";
import { root } from "../processes.ts";
import { streams } from "./streams.ts";

const nowhere = { HOME: "/nowhere", KUBECONFIG: "/nowhere/kubeconfig" };

async function run(line: string, env: Record<string, string> = nowhere) {
  const [name = "", ...argv] = line.split(" ");
  const { written, given } = streams(env);
  const command = await people[name]?.load();
  return { code: await command?.run(argv, given), ...written };
}

describe.each(Object.entries(people))("mooring %s", (name, { summary, load }) => {
  it("is declared as it is listed, with examples that call it", async () => {
    const command = await load();
    expect({ name: command.name, summary: command.summary }).toEqual({ name, summary });
    expect(command.help).toContain("Examples:");
    expect(command.help).toMatch(new RegExp(`^  .*mooring ${name}`, "m"));
    expect(command.help).toContain("Exit codes: 0");
  });

  it("has examples with the flags that it has", async () => {
    const { help, flags } = await load();
    const [, examples = ""] = /^Examples:\n([\s\S]*?)\n\n/m.exec(help) ?? [];
    const calls = examples.split("\n").flatMap((line) => (line.includes(`mooring ${name}`) ? [line] : []));
    expect(calls).not.toEqual([]);
    for (const line of calls) {
      const words = line.slice(line.indexOf(`mooring ${name}`) + `mooring ${name}`.length).split(/[|)&]/)[0] ?? "";
      expect(() => parseFlags(flags, words.split(" ").filter(Boolean)), line).not.toThrow();
    }
  });

  it("refuses what it does not know with exit code 2, or 1 where 2 says that there are changes", async () => {
    expect(await run(`${name} --nonsense`)).toMatchObject({
      code: name === "plan" ? 1 : 2,
      stdout: "",
      stderr: expect.stringContaining(`mooring ${name} --help`),
    });
  });
});

it("every command that prints a table takes -o wide, as kubectl does", async () => {
  for (const [name, { load }] of Object.entries(people)) {
    const { choices = [] } = (await load()).flags.output ?? {};
    if (choices.includes("table")) expect(choices, name).toEqual(expect.arrayContaining(["wide", "json", "yaml"]));
  }
});

it("docs/cli.md has every exit code of every command", async () => {
  const page = readFileSync(join(root, "docs/cli.md"), "utf8").split("**Exit codes**")[1] ?? "";
  const told = new Map([...page.matchAll(/^\| (\d+) \| (.*) \|$/gm)].map(([, code, what]) => [code, what]));
  for (const [name, { load }] of Object.entries(people)) {
    const { help } = await load();
    const [, codes = ""] = /^(Exit codes: [\s\S]*)$/m.exec(help) ?? [];
    for (const [, code = ""] of codes.matchAll(/(?:: |, )(\d+) /g)) {
      expect([...told.keys()], `${name}: ${code}`).toContain(code);
      if (["3", "4"].includes(code)) expect(told.get(code)).toContain(`\`${name}\``);
    }
  }
});

describe("without a cluster", () => {
  it.each(["why", "get", "tree", "wait server/web", "pause server/web", "drift", "orphans", "cost", "expiring"])(
    "mooring %s says what is missing",
    async (line) => {
      const { code, stdout, stderr } = await run(line);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain("no cluster to connect to");
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    },
  );

  it("the doctor has one line, which fails with the fix", async () => {
    const { code, stdout } = await run("doctor");
    expect(code).toBe(3);
    expect(stdout).toMatch(/fail +kubeconfig: no cluster to connect to.*fix: set --kubeconfig/);
  });

  it("a reason is explained in any letter case, and a wrong one is refused with similar names", async () => {
    const { code, stdout } = await run("explain referencenotfound");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ReferenceNotFound\n/);
    expect(stdout).toContain("page:  docs/reference/reasons.md#referencenotfound");
    expect(await run("explain Reference")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("did you mean ReferenceNotFound"),
    });
    expect((await run("explain")).stdout).toMatch(/^NotEmpty +you +The resource contains/m);
  });

  it("a reason says who acts in the words of its page", async () => {
    const page = readFileSync(join(root, "docs/reference/reasons.md"), "utf8").replaceAll("`", "");
    const all = page.split(/^## /m).slice(1);
    expect(all).not.toEqual([]);
    for (const section of all) {
      const [reason = "", , meaning = "", , state = ""] = section.split("\n");
      const said = (await run(`explain ${reason}`)).stdout.replaceAll("\n", " ");
      expect(said).toContain(meaning.replaceAll(/\s+/g, " "));
      expect(said).toContain(state.replace(/ More: .*/, ""));
    }
  });

  it("a script of each shell is printed, and another one is refused", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      expect((await run(`completion ${shell}`)).stdout).toContain("__complete");
    }
    expect(await run("completion tcsh")).toMatchObject({ code: 2 });
  });
});

describe("completion", () => {
  const commands = {
    names: { why: "", wait: "", help: "" },
    load: (name: string) => people[name]?.load(),
  };
  it.each([
    [["w"], ["wait", "why"]],
    [["why", "serv"], ["server/"]],
    [
      ["get", "--output", ""],
      ["json", "table", "wide", "yaml"],
    ],
    [["get", "-o", "y"], ["yaml"]],
    [["wait", "--for=r"], ["--for=ready"]],
    [["explain", "NotE"], ["NotEmpty"]],
    [["drift", "--sel"], ["--selector"]],
    [["get", "servers", "--sel"], ["--selector"]],
    [["simulator", "--he"], ["--help"]],
    [["get", "server/x"], []],
  ])("of %j is %j", async (words, found) => {
    expect(await candidates(commands, words, nowhere)).toEqual(found);
  });
});

describe("objects on the command line", () => {
  it("are named as kubectl and Mooring do", () => {
    expect(objectsIn(["srv/web", "Volume/shop/data"], "team")).toEqual([
      { kind: "Server", name: "web", namespace: "team" },
      { kind: "Volume", name: "data", namespace: "shop" },
    ]);
    expect(objectsIn(["servers", "a", "b"], undefined)).toHaveLength(2);
  });

  it.each([[["server"]], [["server/"]], [["a/b/c/d"]], [["nothing/web"]]])("%j is wrong usage", (args) => {
    expect(() => objectsIn(args, undefined)).toThrow(/name an object|names no object|there is no kind/);
  });
});

describe("manifests", () => {
  async function* stdin(text: string) {
    yield text;
  }
  const read = async (text: string) =>
    (await manifestsIn(["-"], { stdin: stdin(text) })).map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  it("are read as documents and lists", async () => {
    const one = "apiVersion: v1\nkind: A\nmetadata: {name: a}\n";
    expect(await read(`${one}---\n---\n${one}`)).toEqual(["A/a", "A/a"]);
    expect(
      await read('{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"B","metadata":{"name":"b"}}]}'),
    ).toEqual(["B/b"]);
  });

  it.each(["a: [", "just text", "kind: A"])("%j is told with where it stands", async (text) => {
    await expect(read(text)).rejects.toThrow(/^stdin/);
  });
});

it.each([
  [0, "0s"],
  [59_000, "59s"],
  [60_000, "1m"],
  [3_723_000, "1h2m"],
  [90_000_000, "1d1h"],
])("an age of %i ms is %s", (ms, text) => {
  expect(age(new Date(1_000_000).toISOString(), 1_000_000 + ms)).toBe(text);
});
