import { execFileSync } from "node:child_process";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { MOST_MANIFEST_BYTES, manifestBudget, stdinText } from "../../../src/cli/frame/manifest-source.ts";
import { people } from "../../../src/cli/people/commands.ts";
import { plan } from "../../../src/cli/plan/command.ts";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
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

  it.each(["pipe.yaml", "folder", "../../../../../../../../dev/zero"])(
    "refuses what may never end: %s",
    async (name) => {
      const { code, stderr } = await run(name);
      expect(code).toBe(1);
      expect(stderr).toMatch(/(pipe\.yaml|zero): it is no file and no folder; -f - reads stdin\n$/);
    },
  );

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
