import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writeFiles } from "../../../src/cli/import/files.ts";

let root: string;
let folder: string;
let outside: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "import-files-"));
  folder = join(root, "landscape");
  outside = join(root, "outside");
  mkdirSync(folder);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const documents = [
  { file: "server-a.yaml", text: "a\n" },
  { file: "server-b.yaml", text: "b\n" },
];
const write = (force: boolean, to = folder) => writeFiles(to, documents, force);
const read = (name: string) => readFileSync(join(folder, name), "utf8");

describe("imported files", () => {
  test("are written into a folder that is made for them, or that is a link", () => {
    write(false, join(root, "new", "folder"));
    expect(readdirSync(join(root, "new", "folder"))).toEqual(["server-a.yaml", "server-b.yaml"]);
    symlinkSync(folder, join(root, "link"));
    write(false, join(root, "link"));
    expect(read("server-b.yaml")).toBe("b\n");
  });

  test("replace nothing without --force, and then nothing is written", () => {
    writeFileSync(join(folder, "server-b.yaml"), "mine\n");
    expect(() => write(false)).toThrow(
      `${join(folder, "server-b.yaml")} exists: name another folder, or overwrite with --force`,
    );
    expect(readdirSync(folder)).toEqual(["server-b.yaml"]);
    expect(read("server-b.yaml")).toBe("mine\n");
  });

  test("never follow a link out of the folder, whether it leads to a file or to nothing", () => {
    const there = join(root, "there");
    writeFileSync(there, "theirs\n");
    symlinkSync(outside, join(folder, "server-a.yaml"));
    symlinkSync(there, join(folder, "server-b.yaml"));
    expect(() => write(false)).toThrow(`${join(folder, "server-a.yaml")} exists`);
    expect(existsSync(outside)).toBe(false);
    write(true);
    expect(existsSync(outside)).toBe(false);
    expect(readFileSync(there, "utf8")).toBe("theirs\n");
    expect([read("server-a.yaml"), read("server-b.yaml")]).toEqual(["a\n", "b\n"]);
    expect(readdirSync(folder)).toEqual(["server-a.yaml", "server-b.yaml"]);
  });

  test("leave no unfinished file when one cannot be replaced", () => {
    mkdirSync(join(folder, "server-b.yaml"));
    expect(() => write(true)).toThrow();
    expect(readdirSync(folder)).toEqual(["server-a.yaml", "server-b.yaml"]);
  });

  test("keep the rights of the file that they replace", () => {
    writeFileSync(join(folder, "server-a.yaml"), "mine\n");
    chmodSync(join(folder, "server-a.yaml"), 0o600);
    write(true);
    expect(statSync(join(folder, "server-a.yaml")).mode & 0o777).toBe(0o600);
  });

  test.each(["../outside", "a/b.yaml", "..", "a\0b"])("have a plain name: %j is refused", (file) => {
    expect(() => writeFiles(folder, [{ file, text: "x" }], true)).toThrow("is not a file name");
    expect(readdirSync(root)).toEqual(["landscape"]);
  });
});
