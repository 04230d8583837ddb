import { expect, test } from "vitest";
import { server } from "../../../../src/kinds/compute/server/server.ts";
import { remainingVolumes } from "../../../../src/kinds/compute/server/volumes.ts";
import { partsOf } from "../../../../src/kinds/places.ts";

const shown = {
  bootVolumeId: "boot",
  attachedBootVolumes: [],
  volumes: [{ id: "data", name: "data", size: 10 }],
};

test("a server leaves its boot volume and those that were attached to it, each once", () => {
  expect(remainingVolumes.ids(shown)).toEqual(["boot", "data"]);
  expect(remainingVolumes.ids({ ...shown, attachedBootVolumes: ["boot"] })).toEqual(["boot", "data"]);
});

test("the boot volume of spec is a part of it, which goes with it", () => {
  expect(partsOf(server, { bootVolume: {} }, () => shown).map(({ id }) => id)).toEqual(["boot"]);
  expect(partsOf(server, {}, () => shown)).toEqual([]);
});

test.each([{}, { bootVolumeId: 7 }, { volumes: "none" }])(
  "a status that says nothing of volumes names none: %j",
  (status) => {
    expect(remainingVolumes.ids(status)).toEqual([]);
  },
);

test("a volume is unused when it is attached to no server; an answer without properties does not tell", () => {
  expect(remainingVolumes.isUnused({ id: "v", properties: { bootServer: null } })).toBe(true);
  expect(remainingVolumes.isUnused({ id: "v", properties: {} })).toBe(true);
  expect(remainingVolumes.isUnused({ id: "v", properties: { bootServer: "s" } })).toBe(false);
  expect(remainingVolumes.isUnused({ id: "v" })).toBeUndefined();
});
