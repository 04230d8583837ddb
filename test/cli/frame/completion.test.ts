import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { candidates, scripts } from "../../../src/cli/frame/completion.ts";
import { people } from "../../../src/cli/people/commands.ts";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";

const folder = temporaryFolder("completion");
afterAll(() => folder.remove());

const commands = { names: { why: "", get: "" }, load: (name: string) => people[name]?.load() };

describe("--context", () => {
  const kubeconfig = (name: string, ...contexts: string[]) => {
    const path = join(folder.path, name);
    writeFileSync(path, JSON.stringify({ contexts: contexts.map((each) => ({ name: each, context: {} })) }));
    return path;
  };
  const first = kubeconfig("first", "prod", "play", "a b");
  const second = kubeconfig("second", "staging");

  it("is completed with the contexts of all kubeconfigs in use, without names that a shell would split", async () => {
    const env = { KUBECONFIG: `${first}:${second}` };
    expect(await candidates(commands, ["get", "--context", "p"], env)).toEqual(["play", "prod"]);
    expect(await candidates(commands, ["get", "--context", ""], env)).toEqual(["play", "prod", "staging"]);
    expect(await candidates(commands, ["get", "--context=st"], env)).toEqual(["--context=staging"]);
    expect(await candidates(commands, ["get", "--kubeconfig", second, "--context", ""], env)).toEqual(["staging"]);
  });

  it("is not completed without a kubeconfig, or from one that is none", async () => {
    const broken = join(folder.path, "broken");
    writeFileSync(broken, "contexts: 5");
    for (const path of [broken, join(folder.path, "absent")]) {
      expect(await candidates(commands, ["get", "--context", ""], { KUBECONFIG: path })).toEqual([]);
    }
  });
});

describe("the script for bash", () => {
  const script = join(folder.path, "script");
  writeFileSync(script, scripts.bash ?? "");
  /** A program that has two candidates for w, one for g, and none else; it writes down what it is asked. */
  const program = join(folder.path, "mooring");
  writeFileSync(
    program,
    `#!/bin/sh\nprintf '%s|' "$@" >'${folder.path}/asked'\nfor last; do :; done\ncase $last in w) printf 'wait\\nwhy\\n';; g) echo get;; esac\n`,
  );
  chmodSync(program, 0o755);
  const completed = (...words: string[]) => {
    const line = words.map((word) => `'${word}'`).join(" ");
    const code = `source '${script}'; cd '${folder.path}'; COMP_WORDS=('${program}' ${line}); COMP_CWORD=${words.length}; _mooring; printf '%s\\n' "\${COMPREPLY[@]}"; complete -p mooring kubectl-mooring`;
    const printed = execFileSync("bash", ["-c", code], { encoding: "utf8" }).trimEnd().split("\n");
    return { offered: printed.slice(0, -2), registered: printed.slice(-2) };
  };

  it("offers what the program offers, for mooring and kubectl-mooring", () => {
    expect(completed("w")).toEqual({
      offered: ["wait", "why"],
      registered: ["complete -F _mooring mooring", "complete -F _mooring kubectl-mooring"],
    });
    expect(execFileSync("cat", [join(folder.path, "asked")], { encoding: "utf8" })).toBe("__complete|w|");
    expect(completed("get", "-n", "g").offered).toEqual(["get"]);
    expect(execFileSync("cat", [join(folder.path, "asked")], { encoding: "utf8" })).toBe("__complete|get|-n|g|");
  });

  it("offers files where the program offers nothing", () => {
    expect(completed("plan", "-f", "scri").offered).toEqual(["script"]);
  });
});
