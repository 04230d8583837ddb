import { expect, test } from "vitest";
import { remainingVolumes } from "../../../../src/kinds/compute/server/volumes.ts";

const shown = {
  bootVolumeId: "boot",
  attachedBootVolumes: [],
  volumes: [{ id: "data", name: "data", size: 10 }],
};

test("a server that somebody deletes leaves its boot volume and those that were attached to it", () => {
  expect(remainingVolumes.ids(shown, false)).toEqual(["boot", "data"]);
});

test("a server that Mooring deletes takes the boot volume of spec with it, and leaves the others", () => {
  expect(remainingVolumes.ids(shown, true)).toEqual(["data"]);
});

test("a boot volume that was attached for bootVolumeRef stays in either case, and is named once", () => {
  const attached = { ...shown, attachedBootVolumes: ["boot"] };
  expect(remainingVolumes.ids(attached, true)).toEqual(["boot", "data"]);
  expect(remainingVolumes.ids(attached, false)).toEqual(["boot", "data"]);
});

test.each([{}, { bootVolumeId: 7 }, { volumes: "none" }])(
  "a status that says nothing of volumes names none: %j",
  (status) => {
    expect(remainingVolumes.ids(status, false)).toEqual([]);
  },
);

test("a volume is unused when it is attached to no server; an answer without properties does not tell", () => {
  expect(remainingVolumes.isUnused({ id: "v", properties: { bootServer: null } })).toBe(true);
  expect(remainingVolumes.isUnused({ id: "v", properties: {} })).toBe(true);
  expect(remainingVolumes.isUnused({ id: "v", properties: { bootServer: "s" } })).toBe(false);
  expect(remainingVolumes.isUnused({ id: "v" })).toBeUndefined();
});
