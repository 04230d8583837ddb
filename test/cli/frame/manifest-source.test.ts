import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { filesAt, MOST_MANIFEST_BYTES, manifestBudget, stdinText } from "../../../src/cli/frame/manifest-source.ts";
import { people } from "../../../src/cli/people/commands.ts";
import { plan } from "../../../src/cli/plan/command.ts";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import { mooring, run } from "../../processes.ts";
import { streams } from "../streams.ts";

const folder = temporaryFolder("manifest-source");
afterAll(() => folder.remove());
const at = (name: string) => join(folder.path, name);
const object = "{apiVersion: mooring.dev/v1alpha1, kind: Datacenter, metadata: {name: dc}, spec: {location: de/txl}}";
mkdirSync(at("folder"));
writeFileSync(at("folder/a.yaml"), object);
execFileSync("mkfifo", [at("pipe.yaml"), at("folder/pipe.yaml")]);
for (const name of ["large.yaml", "half.yaml", "other-half.yaml"]) writeFileSync(at(name), object);
truncateSync(at("large.yaml"), MOST_MANIFEST_BYTES + 1);
for (const name of ["half.yaml", "other-half.yaml"]) truncateSync(at(name), MOST_MANIFEST_BYTES / 2 + 1);

const commands = {
  plan: async () => plan,
  wait: async () => {
    const command = await people.wait?.load();
    if (!command) throw new Error("there is no command wait");
    return command;
  },
};

describe.each(Object.entries(commands))("%s -f", (_, load) => {
  const run = async (...names: string[]) => {
    const { written, given } = streams({ HOME: folder.path });
    const command = await load();
    return {
      code: await command.run(
        names.flatMap((name) => ["-f", at(name)]),
        given,
      ),
      ...written,
    };
  };

  it.each(["folder", "../../../../../../../../dev/zero"])("refuses what may never end: %s", async (name) => {
    const { code, stderr } = await run(name);
    expect(code).toBe(1);
    expect(stderr).toMatch(/(pipe\.yaml|zero): it is no file and no folder; -f - reads stdin\n$/);
  });

  it.each([[["large.yaml"]], [["half.yaml", "other-half.yaml"]]])(
    "refuses more than can be parsed: %j",
    async (names) => {
      const { code, stderr } = await run(...names);
      expect(code).toBe(1);
      expect(stderr).toMatch(/half\.yaml|large\.yaml/);
      expect(stderr).toContain(": the manifests have more than 4 MiB: name fewer files at a time");
    },
  );
});

describe("a pipe", () => {
  const pipe = at("pipe.yaml");
  const budget = () => manifestBudget(10 * 1024);

  it("is read to its end, also if its writer comes late and pauses", async () => {
    const writer = spawn("sh", ["-c", 'sleep 0.3; { printf %s "$1"; sleep 0.3; echo; } > "$2"', "sh", object, pipe]);
    const exited = once(writer, "exit");
    expect(await filesAt(pipe, budget())).toEqual([{ from: pipe, text: `${object}\n` }]);
    await exited;
  });

  it("without a writer, or with one that does not end, is left after a time", async () => {
    await expect(filesAt(pipe, budget(), { pipeMs: 200 })).rejects.toThrow(
      /pipe.yaml: it did not end in 0.2 s; -f - has no/,
    );
    const writer = spawn("sh", ["-c", 'exec sleep 60 > "$1"', "sh", pipe]);
    await expect(filesAt(pipe, budget(), { pipeMs: 500 })).rejects.toThrow("it did not end in 0.5 s");
    writer.kill();
  });

  it("is not read further than the limit", async () => {
    const writer = spawn("sh", ["-c", 'exec yes > "$1"', "sh", pipe]);
    const exited = once(writer, "exit");
    await expect(filesAt(pipe, budget())).rejects.toThrow("pipe.yaml: the manifests have more than");
    await exited;
  });

  it("as bash makes it is read by mooring plan", async () => {
    const text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}";
    const env = { ...process.env, KUBECONFIG: "/nowhere", HOME: folder.path };
    const { stdout, stderr } = await run("bash", ["-c", 'exec "$1" plan -f <(echo "$2")', "bash", mooring, text], {
      env,
    });
    expect(`${stdout}${stderr}`).not.toMatch(/no file|did not end|there is no such file/);
  });
});

it("a file in /proc, whose size is 0, counts with what it has", async () => {
  await expect(filesAt("/proc/self/status", manifestBudget(100))).rejects.toThrow("the manifests have more than");
  const [source] = await filesAt("/proc/self/status", manifestBudget());
  expect(source?.text).toMatch(/^Name:/);
});

it("stdin is not read further than the limit", async () => {
  let given = 0;
  async function* endless() {
    for (;;) {
      given += 1;
      yield Buffer.alloc(1024);
    }
  }
  await expect(stdinText(manifestBudget(10 * 1024), endless())).rejects.toThrow("stdin: the manifests have more than");
  expect(given).toBe(11);
});
