import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createLayout, mediaTypes, readLayout, sha256 } from "../../release/formats/oci.ts";
import { entriesBelow, tar, tarGz } from "../../release/formats/tar.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { run } from "../processes.ts";

const folder = temporaryFolder("formats");
afterAll(() => folder.remove());

describe("an archive", () => {
  const long = `${"folder/".repeat(20)}${"n".repeat(90)}`;
  const entries = [
    { path: "program", content: "#!/bin/sh\n", executable: true },
    { path: long, content: Buffer.alloc(513, "x") },
    { path: "a/empty", content: "" },
  ];

  it("is read by tar: names of any length, modes, content, times and owner", async () => {
    const path = join(folder.path, "archive.tar.gz");
    writeFileSync(path, tarGz(entries, 1_700_000_000));
    const { code, stdout, stderr } = await run("tar", ["--list", "--verbose", "--utc", "--file", path]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = stdout.trim().split("\n");
    expect(lines.filter((line) => !line.startsWith("d")).map((line) => line.split(/\s+/))).toEqual([
      ["-rw-r--r--", "root/root", "0", "2023-11-14", "22:13", "a/empty"],
      ["-rw-r--r--", "root/root", "513", "2023-11-14", "22:13", long],
      ["-rwxr-xr-x", "root/root", "10", "2023-11-14", "22:13", "program"],
    ]);
    await run("tar", ["--extract", "--file", path, "--directory", folder.path]);
    expect(readFileSync(join(folder.path, long), "utf8")).toBe("x".repeat(513));
  });

  it("is the same whatever the order of its entries", () => {
    expect(tar(entries, 1).equals(tar([...entries].reverse(), 1))).toBe(true);
    expect(tar(entries, 1).equals(tar(entries, 2))).toBe(false);
  });

  it("refuses a name that no archive can hold", () => {
    expect(() => tar([{ path: "n".repeat(101), content: "" }], 1)).toThrow("is too long for an archive");
  });

  it("has the files behind links of a folder", () => {
    const from = join(folder.path, "linked");
    mkdirSync(join(from, "real"), { recursive: true });
    writeFileSync(join(from, "real/file"), "text");
    symlinkSync("real", join(from, "link"));
    expect(entriesBelow(from).map(({ path }) => path)).toEqual(["link/file", "real/file"]);
  });
});

describe("a layout", () => {
  it("keeps content under its digest, and names manifests after what they need", () => {
    const layout = createLayout(join(folder.path, "layout"));
    const config = layout.json({}, mediaTypes.config);
    const layer = layout.blob("layer", mediaTypes.layer);
    expect(layer).toEqual({ mediaType: mediaTypes.layer, digest: `sha256:${sha256("layer")}`, size: 5 });
    const manifest = layout.json({ schemaVersion: 2, config, layers: [layer] }, mediaTypes.manifest);
    const index = layout.json({ schemaVersion: 2, manifests: [manifest] }, mediaTypes.index);
    layout.tag(index, "1.2.3");
    const [first, second, ...rest] = readLayout(layout.folder);
    expect(first).toMatchObject({ manifest, blobs: [config, layer] });
    expect(first).not.toHaveProperty("tag");
    expect(second).toMatchObject({ manifest: index, blobs: [], tag: "1.2.3" });
    expect(rest).toEqual([]);
  });
});
