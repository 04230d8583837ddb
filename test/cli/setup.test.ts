import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Result, root, run, start } from "../processes.ts";

/** Installs a `node` that only answers and records the call. It waits for the file `go` if `slow` exists. */
const fakeNpm = `#!/bin/sh
echo install >>installs
while [ -e slow ] && [ ! -e go ]; do sleep 0.05; done
[ -e broken ] && { echo "the registry is on fire" >&2; exit 1; }
mkdir -p node_modules/node/bin
printf '#!/bin/sh\\n' >node_modules/node/bin/node
chmod +x node_modules/node/bin/node
echo "noise of npm"
`;

let checkout: string;
const at = (name: string) => join(checkout, name);
const touch = (name: string) => writeFileSync(at(name), "");
const installs = () => (existsSync(at("installs")) ? readFileSync(at("installs"), "utf8").split("\n").length - 1 : 0);
const env = () => ({ PATH: `${at("tools")}:/usr/bin:/bin` });
const setup = (): Promise<Result> => run(at("bin/setup"), [], { cwd: "/", env: env() });

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), "mooring-setup-"));
  cpSync(join(root, "bin"), at("bin"), { recursive: true });
  mkdirSync(at("tools"));
  writeFileSync(at("tools/npm"), fakeNpm);
  chmodSync(at("tools/npm"), 0o755);
  writeFileSync(at("package-lock.json"), "one");
});

afterEach(() => rmSync(checkout, { recursive: true }));

describe("bin/setup", () => {
  it("installs once, and again when the lock file changed, with nothing on stdout", async () => {
    const first = await setup();
    expect(first).toMatchObject({ code: 0, stdout: "", stderr: expect.stringMatching(/^mooring: installing.*\n$/) });
    expect(await setup()).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(installs()).toBe(1);
    writeFileSync(at("package-lock.json"), "two");
    await setup();
    expect(installs()).toBe(2);
  });

  it("lets a second call wait for the first", async () => {
    touch("slow");
    const first = start(at("bin/setup"), [], { env: env() });
    await expect.poll(installs).toBe(1);
    const second = start(at("bin/setup"), [], { env: env() });
    await expect.poll(second.output).toContain(`waiting for another installation (process ${first.pid})`);
    touch("go");
    expect(await Promise.all([first.ended, second.ended])).toEqual([0, 0]);
    expect(installs()).toBe(1);
  });

  it("takes over from a call that was killed", async () => {
    mkdirSync(at(".cache"));
    const dead = start("true", []);
    await dead.ended;
    symlinkSync(String(dead.pid), at(".cache/setup.lock"));
    expect((await setup()).code).toBe(0);
    expect(installs()).toBe(1);
  });

  it("shows what npm said when it fails, and tries again the next time", async () => {
    touch("broken");
    const failed = await setup();
    expect(failed).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("the registry is on fire") });
    rmSync(at("broken"));
    expect((await setup()).code).toBe(0);
  });

  it("says what to install when there is no npm", async () => {
    rmSync(at("tools/npm"));
    for (const tool of ["dirname", "cmp"]) symlinkSync(join("/usr/bin", tool), at(`tools/${tool}`));
    const { code, stderr } = await run("/bin/sh", [at("bin/setup")], { env: { PATH: at("tools") } });
    expect(code).toBe(1);
    expect(stderr).toContain("Install Node.js 20 or newer");
  });
});
