import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { scripts } from "../../../src/cli/frame/completion.ts";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";

const folder = temporaryFolder("shells");
afterAll(() => folder.remove());
const at = (name: string) => join(folder.path, name);

/** Has two candidates for w, one for g and ser, and none else. Writes down every call. */
for (const name of ["mooring", "kubectl-mooring"]) {
  writeFileSync(
    at(name),
    `#!/bin/sh\nprintf '%s|' "\${0##*/}" "$@" >>'${at("calls")}'; echo >>'${at("calls")}'\n[ "$1" = __complete ] || exit 0\nfor last; do :; done\ncase $last in w) printf 'wait\\nwhy\\n';; g) echo get;; ser) echo server/;; esac\n`,
  );
  chmodSync(at(name), 0o755);
}
writeFileSync(at("notes.yaml"), "");
writeFileSync(at("west.yaml"), "");
for (const shell of ["zsh", "fish"]) writeFileSync(at(`script.${shell}`), scripts[shell] ?? "");

const PATH = `${folder.path}:${process.env.PATH}`;
const env = { PATH, HOME: folder.path, TERM: "dumb" };
const calls = () => (existsSync(at("calls")) ? readFileSync(at("calls"), "utf8").trimEnd().split("\n") : []);

describe("in zsh, Tab", () => {
  /** The commands that run after these keys and Enter in an interactive shell. */
  function ran(keys: string): string[] {
    rmSync(at("calls"), { force: true });
    const driver = `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'autoload -Uz compinit; compinit -u -D; source script.zsh; setopt menu_complete; echo re""ady'
zpty -r shell out '*ready*'
zpty -w -n shell ${JSON.stringify(keys).replaceAll('"', "'").replace(/^/, "$")}
zpty -w -n shell $'\\nexit\\n'
while zpty -r shell out; do :; done
`;
    execFileSync("zsh", ["-f", "-c", driver], { cwd: folder.path, env, timeout: 60_000 });
    return calls().filter((call) => !call.includes("|__complete|"));
  }

  it.each([
    ["completes the only candidate, and a space", "mooring g\tx", "mooring|get|x|"],
    ["offers the first candidate", "mooring w\t", "mooring|wait|"],
    ["offers the next one", "mooring w\t\t", "mooring|why|"],
    ["adds no space to a kind, because the name follows", "mooring get ser\tweb", "mooring|get|server/web|"],
    ["completes files where the program has no candidate", "mooring plan -f no\t", "mooring|plan|-f|notes.yaml|"],
    ["works for the plugin of kubectl", "kubectl-mooring g\t", "kubectl-mooring|get|"],
  ])("%s", (_, keys, call) => {
    expect(ran(keys)).toEqual([call]);
  });
});

describe("fish", () => {
  const offered = (line: string) => {
    rmSync(at("calls"), { force: true });
    const code = `source script.fish; complete --do-complete '${line}'`;
    return execFileSync("fish", ["--no-config", "-c", code], { cwd: folder.path, env, encoding: "utf8" })
      .trimEnd()
      .split("\n");
  };

  it.each([
    ["the candidates of the program, and no files beside them", "mooring w", ["wait", "why"]],
    ["the only candidate", "mooring g", ["get"]],
    ["a kind, after which the name follows", "mooring get ser", ["server/"]],
    ["files where the program has no candidate", "mooring plan -f no", ["notes.yaml"]],
    ["the same for the plugin of kubectl", "kubectl-mooring w", ["wait", "why"]],
  ])("offers %s", (_, line, candidates) => {
    expect(offered(line)).toEqual(candidates);
    const [program = "", ...words] = line.split(" ");
    expect(calls()).toEqual([[program, "__complete", ...words, ""].join("|")]);
  });
});
