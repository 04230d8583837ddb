import { describe, expect, test } from "vitest";
import { server } from "../../src/kinds/compute/server/server.ts";
import { kinds } from "../../src/kinds/index.ts";
import { isAsRecorded, recordOf } from "../../src/runtime/field-record.ts";
import { hashFields } from "../../src/runtime/hash.ts";

const cube = (templateName: string, name: string, more: object = {}) => ({
  type: "CUBE",
  templateName,
  bootVolume: { imageLookup: { name, type: "HDD", ...more } },
});
const fields = Object.keys(server.immutable);
const changed = (before: Record<string, string>, spec: object) =>
  fields.filter((field) => !isAsRecorded(server, spec, field, before[field]));

describe("the record of what a resource was created from", () => {
  const before = recordOf(server, cube("basic cube xs", "Ubuntu-24"));

  test("does not see the case of names that are looked up without case", () => {
    expect(changed(before, cube("Basic Cube XS", "ubuntu-24"))).toEqual([]);
  });

  test("sees another name, and all that is beside it", () => {
    expect(changed(before, cube("Basic Cube S", "ubuntu-24"))).toEqual(["templateName"]);
    expect(changed(before, cube("basic cube xs", "ubuntu-22"))).toEqual(["bootVolume.imageLookup"]);
    expect(changed(before, cube("basic cube xs", "ubuntu-24", { alias: "ubuntu:latest" }))).toEqual([
      "bootVolume.imageLookup",
    ]);
    expect(changed(before, { ...cube("basic cube xs", "ubuntu-24"), type: "cube" })).toEqual(["type"]);
    expect(changed(before, { type: "CUBE" })).toEqual(["templateName", "bootVolume.imageLookup"]);
  });

  test("may have the hashes of version 0.1, of the text as it was written", () => {
    const spec = cube("Basic Cube XS", "Ubuntu-24");
    expect(changed(hashFields(spec, fields), spec)).toEqual([]);
    expect(changed(hashFields(cube("basic cube xs", "ubuntu"), fields), cube("Basic Cube XS", "Ubuntu"))).toEqual([]);
    expect(changed(hashFields(spec, fields), cube("Basic Cube S", "Ubuntu-24"))).toEqual(["templateName"]);
  });

  test.each(kinds.filter(({ ignoresCase }) => ignoresCase))(
    "of a $kind ignores case in immutable fields only",
    (kind) => {
      const isImmutable = (path: string) =>
        [path, path.split(".").slice(0, -1).join(".")].some((each) => each in kind.immutable);
      expect(kind.ignoresCase?.filter((path) => !isImmutable(path))).toEqual([]);
    },
  );
});
