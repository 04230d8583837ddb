import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signAdHoc } from "../../release/formats/macho.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { run } from "../processes.ts";

const folder = temporaryFolder("macho");
afterAll(() => folder.remove());

/** Go's linker signs programs for macOS on ARM, under this name. */
const NAME = "a.out";

/** The same program before it was signed: without the load command, and without the signature. */
function unsigned(program: Buffer): Buffer {
  const [count, size] = [program.readUInt32LE(16), program.readUInt32LE(20)];
  const at = 32 + size - 16;
  expect(program.readUInt32LE(at)).toBe(0x1d);
  const file = Buffer.from(program.subarray(0, program.readUInt32LE(at + 8)));
  file.writeUInt32LE(count - 1, 16);
  file.writeUInt32LE(size - 16, 20);
  file.fill(0, at, at + 16);
  return file;
}

describe("the signature of a macOS program", () => {
  let linked: Buffer;

  beforeAll(async () => {
    mkdirSync(join(folder.path, "program"));
    writeFileSync(join(folder.path, "program/go.mod"), "module program\n");
    writeFileSync(join(folder.path, "program/main.go"), "package main\n\nfunc main() { println(1) }\n");
    const env = { ...process.env, GOOS: "darwin", GOARCH: "arm64", CGO_ENABLED: "0", GOWORK: "off", GOFLAGS: "" };
    const args = ["build", "-C", join(folder.path, "program"), "-o", join(folder.path, "linked"), "."];
    const { code, stderr } = await run("go", args, { env });
    expect(code, stderr).toBe(0);
    linked = readFileSync(join(folder.path, "linked"));
  });

  it("is the one that Go's linker makes, byte by byte", () => {
    const signed = signAdHoc(unsigned(linked), NAME);
    expect(signed.equals(linked)).toBe(true);
  });

  it("replaces one that no longer fits", () => {
    const changed = Buffer.from(linked);
    changed.writeUInt8(0xff ^ changed.readUInt8(0x5000), 0x5000);
    const signed = signAdHoc(changed, NAME);
    expect(signed.length).toBe(linked.length);
    expect(signed.equals(changed)).toBe(false);
    expect(signAdHoc(unsigned(changed), NAME).equals(signed)).toBe(true);
  });

  it("is refused where there is no room for it, and for another file", () => {
    const full = unsigned(linked);
    // The first section begins right after the load commands.
    const segments = 32 + full.readUInt32LE(32 + 4);
    full.writeUInt32LE(32 + full.readUInt32LE(20), segments + 72 + 48);
    expect(() => signAdHoc(full, NAME)).toThrow("no room for a signature");
    expect(() => signAdHoc(Buffer.from("\x7fELF".padEnd(64)), NAME)).toThrow("not a Mach-O file");
  });
});
