import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { announceStart, environmentOf, writeEnvironment } from "../../../src/cli/demo/env.ts";
import { type Part, parts, samplesOf } from "../../../src/cli/demo/install.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import { mooring, root, run } from "../../processes.ts";

const folder = temporaryFolder("demo-env");
afterAll(() => folder.remove());

const home = (name: string) => {
  const path = join(folder.path, name);
  mkdirSync(path);
  const access = {
    kubeconfig: join(path, "demo.kubeconfig"),
    namespace: "demo",
    endpoints: { api: "http://127.0.0.1:1", logging: "http://127.0.0.1:1/it's/{region}" },
    token: "the-value-of-a-token",
    log: join(path, "operator.log"),
  };
  return { path, access, env: { ...process.env, XDG_CACHE_HOME: join(path, "cache") } };
};

/** A PATH with nothing but cat. */
const cat = join(folder.path, "programs");
mkdirSync(cat);
symlinkSync("/bin/cat", join(cat, "cat"));

describe("mooring demo env", () => {
  it("says how to start a demo when none runs", async () => {
    const { env } = home("none");
    const { code, stderr } = await run(mooring, ["demo", "env"], { env });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("start one with bin/mooring demo") });
  });

  it("waits for a demo that is starting, and says so", async () => {
    const { env, access } = home("starting");
    using _ = announceStart({ env });
    const child = spawn(mooring, ["demo", "env"], { cwd: root, env });
    const printed = text(child.stdout);
    const [said] = await once(child.stderr, "data");
    expect(String(said)).toContain(`demo ${process.pid} is starting: waiting until its platform runs`);
    using __ = await writeEnvironment(access, "/assets", { env });
    expect(await printed).toBe(environmentOf(access, "/assets"));
  });

  it("says that a demo ended while it was starting", async () => {
    const { env } = home("ended");
    const starting = announceStart({ env });
    const child = spawn(mooring, ["demo", "env"], { cwd: root, env });
    await once(child.stderr, "data");
    starting[Symbol.dispose]();
    expect(await text(child.stderr)).toContain("ended before its platform ran: start one with bin/mooring demo");
  });

  it("prints what a shell takes, for a demo whose process lives, and forgets others", async () => {
    const { env, access, path } = home("one");
    using _ = await writeEnvironment(access, "/assets", { env });
    const demos = join(path, "cache/mooring/demos");
    // No process has this number.
    writeFileSync(join(demos, "4194305.env"), "export KUBECONFIG=/of/a/killed/demo\n");
    const { code, stdout } = await run(mooring, ["demo", "env"], { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: environmentOf(access, "/assets") });
    expect(readdirSync(demos)).toEqual([`${process.pid}.env`]);
    const shell = await run("bash", ["-c", 'eval "$1"; echo "$KUBECONFIG $TOKEN $MOORING_ENDPOINTS"', "bash", stdout]);
    expect(shell.stdout.trim()).toBe(`${access.kubeconfig} ${access.token} ${JSON.stringify(access.endpoints)}`);
  });

  it("finds the kubectl of the demo, and says how to build one where there is none", async () => {
    const { access, path } = home("kubectl");
    writeFileSync(join(path, "token"), "");
    const text = environmentOf(access, path);
    const evaluate = () => run("/bin/sh", ["-c", 'eval "$1"; command -v kubectl', "sh", text], { env: { PATH: cat } });
    expect(await evaluate()).toMatchObject({
      stdout: "",
      stderr: '"bin/mooring cluster build kubectl" builds kubectl, which is not here, in about a minute\n',
    });
    writeFileSync(join(path, "kubectl"), "#!/bin/sh\n", { mode: 0o755 });
    expect(await evaluate()).toMatchObject({ stdout: `${join(path, "kubectl")}\n`, stderr: "" });
  });

  const checkout = resolve(root);
  /** A demo of another checkout whose process is not this one. */
  const foreign = (path: string, stage: "env" | "starting") => {
    const child = spawn("/bin/sleep", ["300"]);
    const text = environmentOf(home(`foreign-${child.pid}`).access, "/assets").replaceAll(checkout, "/other/clone");
    mkdirSync(join(path, "cache/mooring/demos"), { recursive: true });
    writeFileSync(join(path, `cache/mooring/demos/${child.pid}.${stage}`), text);
    return { text, pid: child.pid, [Symbol.dispose]: () => void child.kill() };
  };

  it("chooses the demo of its own checkout, although another one is newer", async () => {
    const { env, access, path } = home("own");
    using _ = await writeEnvironment(access, "/assets", { env });
    using other = foreign(path, "env");
    expect(await run(mooring, ["demo", "env"], { env })).toEqual({
      code: 0,
      stdout: environmentOf(access, "/assets"),
      stderr: "",
    });
    const chosen = await run(mooring, ["demo", "env", "--demo", String(other.pid)], { env });
    expect(chosen).toEqual({ code: 0, stdout: other.text, stderr: "" });
  });

  it("waits for the demo of its own checkout while another one runs", async () => {
    const { env, access, path } = home("own-starting");
    using _ = announceStart({ env });
    using __ = foreign(path, "env");
    const child = spawn(mooring, ["demo", "env"], { cwd: root, env });
    const printed = text(child.stdout);
    const [said] = await once(child.stderr, "data");
    expect(String(said)).toContain(`demo ${process.pid} is starting`);
    using ___ = await writeEnvironment(access, "/assets", { env });
    expect(await printed).toBe(environmentOf(access, "/assets"));
  });

  it.each(["env", "starting"] as const)(
    "says how to choose when only another checkout has a demo (%s)",
    async (stage) => {
      const { env, path } = home(`others-${stage}`);
      using other = foreign(path, stage);
      const { code, stdout, stderr } = await run(mooring, ["demo", "env"], { env });
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain(`no demo of ${checkout} is running`);
      expect(stderr).toContain(`demo ${other.pid} of /other/clone: --demo ${other.pid} chooses it`);
    },
  );

  it("says which demos run when there is none with the chosen number", async () => {
    const { env, access } = home("no-such");
    using _ = await writeEnvironment(access, "/assets", { env });
    const { code, stdout, stderr } = await run(mooring, ["demo", "env", "--demo", "4194305"], { env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`no demo 4194305 is running: demo ${process.pid} of ${checkout}`);
    const invalid = await run(mooring, ["demo", "env", "--demo", "../x"], { env });
    expect({ code: invalid.code, stderr: invalid.stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining("--demo ../x: give the process id of a demo"),
    });
  });

  it("has the commands of this checkout on the PATH", async () => {
    const stdout = environmentOf(home("path").access, "/assets");
    const shell = await run("bash", ["-c", 'eval "$1"; command -v mooring; echo "$PATH"', "bash", stdout]);
    expect(shell.stdout).toContain("/mooring\n");
    expect(shell.stdout.trim().endsWith(`:/assets:${join(root, "bin")}`)).toBe(true);
  });

  it("shows no value that opens something: those are in files of their user", async () => {
    const { env, access, path } = home("secret");
    using _ = await writeEnvironment(access, "/bin", { env });
    expect(environmentOf(access, "/bin")).not.toContain(access.token);
    for (const name of ["token", "access.json"]) expect(statSync(join(path, name)).mode & 0o777).toBe(0o600);
  });

  it("refuses any other word", async () => {
    const { code, stderr } = await run(mooring, ["demo", "envs"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("unexpected argument envs") });
  });
});

/** The references of a spec at any depth: the role in the field's name, and the name of the object. */
function referencesIn(node: unknown): [word: string, name: string][] {
  return Object.entries(Object(node)).flatMap(([field, value]): [string, string][] => {
    if (!field.endsWith("Ref")) return typeof value === "object" ? referencesIn(value) : [];
    return [[field.replace(/(Key)?Ref$/, "").toLowerCase(), String(Object(value).name)]];
  });
}

const samples = await samplesOf(Object.keys(parts).filter((name): name is Part => name in parts));

describe("mooring demo --all", () => {
  const applied = samples
    .flatMap((name) => parseAllDocuments(readFileSync(join(root, "deploy/samples", name), "utf8")))
    .map((document): { kind: string; metadata: { name: string }; spec?: unknown } => document.toJS());

  it("has an object of every kind", () => {
    const shown = new Set(applied.map(({ kind }) => kind));
    expect(kinds.map(({ kind }) => kind).filter((kind) => !shown.has(kind))).toEqual([]);
  });

  it("has everything that its objects refer to; if not: the sample of that kind in deploy/samples", () => {
    const isApplied = (word: string, name: string) =>
      applied.some(({ kind, metadata }) => {
        const called = kind.toLowerCase();
        return metadata.name === name && (called.endsWith(word) || word.endsWith(called));
      });
    const unknown = applied.flatMap(({ kind, metadata, spec }) =>
      referencesIn(spec)
        .filter(([word, name]) => !isApplied(word, name))
        .map(([word, name]) => `${kind} ${metadata.name}: ${word} ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  it("has no two objects of one name, and none that the README's example would change", () => {
    const names = applied.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    const [, example = ""] = /```yaml\n([\s\S]*?)```/.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
    const mine = parseAllDocuments(example).map((each): (typeof applied)[number] => each.toJS());
    expect(mine.length).toBeGreaterThan(0);
    const all = [...names, ...mine.map(({ kind, metadata }) => `${kind}/${metadata.name}`)];
    expect(all.filter((name, at) => all.indexOf(name) !== at)).toEqual([]);
  });
});
