import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const script = fileURLToPath(new URL("../../bin/setup-browser", import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mooring-browser-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function program(name: string): string {
  const file = join(folder, name);
  writeFileSync(file, "#!/bin/sh\nexit 1\n");
  chmodSync(file, 0o755);
  return file;
}

/** Runs with only the test's own programs on the PATH. */
const setup = (env: NodeJS.ProcessEnv = {}) =>
  spawnSync("/bin/sh", [script], { encoding: "utf8", env: { PATH: folder, ...env } });

describe("bin/setup-browser", () => {
  it.each(["chromium", "chromium-browser", "google-chrome"])("finds %s on the PATH", (name) => {
    const file = program(name);
    expect(setup()).toMatchObject({ status: 0, stdout: `${file}\n` });
  });

  it("takes the one that CHROMIUM names first", () => {
    program("chromium");
    const own = program("own-browser");
    expect(setup({ CHROMIUM: own })).toMatchObject({ status: 0, stdout: `${own}\n` });
  });

  it("says what to do where it cannot install one", () => {
    const { status, stdout, stderr } = setup();
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/apt-get install chromium.*CHROMIUM=/);
  });
});
