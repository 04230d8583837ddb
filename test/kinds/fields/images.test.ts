import { describe, expect, it } from "vitest";
import { z } from "zod";
import { server } from "../../../src/kinds/compute/server/server.ts";
import type { Inputs, Lookup } from "../../../src/kinds/desired.ts";
import { platformForFile } from "../../simulator/platform.ts";
import { inputs, mapped } from "../mapped.ts";

const platform = await platformForFile();

const mapping = mapped(server);
const desire = (imageLookup: object, volume: object = {}) =>
  mapping.desire({
    datacenterRef: { name: "berlin" },
    cores: 1,
    ram: 1024,
    bootVolume: { size: 10, type: "HDD", imageLookup, ...volume },
  });
const located = (location: string) => inputs({ refs: { datacenter: { id: "dc-1", status: { location } } } });

/** The results of all lookups of a creation, or the problem of the first one that fails. */
async function lookUp(lookups: Lookup[]): Promise<Record<string, string> | string> {
  const found: Record<string, string> = {};
  for (const { field, path, pick } of lookups) {
    const picked = pick((await platform.core("GET", path)).body, found);
    if ("problem" in picked) return picked.problem;
    found[field] = picked.value;
  }
  return found;
}

const imageShape = z.object({ properties: z.looseObject({ name: z.string(), location: z.string() }) });

/** Name and location of the found image. */
async function imageFor(lookup: object, given: Inputs = located("de/txl"), volume: object = {}) {
  const found = await lookUp(desire(lookup, volume).lookups(given));
  if (typeof found === "string") return found;
  const { body } = await platform.core("GET", `/images/${found["bootVolume.imageLookup"]}`);
  const { name, location } = imageShape.parse(body).properties;
  return `${name} in ${location}`;
}

describe("an image that is not there", () => {
  it("by its name is answered with names, which find one", async () => {
    const problem = await imageFor({ name: "Ubuntu:24.04" });
    expect(problem).toMatch(/similar: ubuntu-26.04-\d+, ubuntu-24.04-\d+, ubuntu-22.04-\d+$/);
    expect(await imageFor({ name: problem.split(", ").at(-2) })).toBe("ubuntu-24.04-20260401 in de/txl");
  });

  it("by its alias is answered with aliases", async () => {
    expect(await imageFor({ alias: "ubuntu:24.10" })).toMatch(/similar: ubuntu:24.04, /);
  });
});

describe("an image is looked up", () => {
  it.each([
    ["by its alias", { alias: "ubuntu:latest" }, "ubuntu-26.04-20260421 in de/txl"],
    ["by the beginning of its name", { name: "ubuntu-24" }, "ubuntu-24.04-20260401 in de/txl"],
    ["by its name in upper case", { name: "DEBIAN-11" }, "debian-11-20260401 in de/txl"],
    ["and the newest of several is taken", { name: "ubuntu" }, "ubuntu-26.04-20260421 in de/txl"],
    ["by alias and name together", { alias: "debian:12", name: "debian" }, "debian-12-20260401 in de/txl"],
    ["by what it lacks", { name: "w", cloudInit: "NONE" }, "windows-2022-20260401 in de/txl"],
    ["in a location of its own", { alias: "rocky:9", location: "de/fra" }, "rocky-9-20260401 in de/fra"],
  ])("%s", async (_, lookup, image) => {
    expect(await imageFor(lookup)).toBe(image);
  });

  it("in the metro region for a further site of it", async () => {
    expect(await imageFor({ alias: "debian:latest" }, located("de/fra/2"))).toBe("debian-12-20260401 in de/fra");
  });

  it("where the datacenter is, when only its id is known", async () => {
    const [, , id = ""] = (await platform.datacenter("gb/lhr")).split("/");
    expect(await imageFor({ alias: "debian:latest" }, inputs({ parents: { datacenter: id } }))).toBe(
      "debian-12-20260401 in gb/lhr",
    );
  });

  it("with cloud-init, once there is user data", async () => {
    const volume = { userDataSecretRef: { name: "init" } };
    expect(await imageFor({ name: "w" }, located("de/txl"), volume)).toContain("cloudInit V1");
    expect(await imageFor({ name: "w" })).toBe("windows-2022-20260401 in de/txl");
  });
});

describe("an image that does not exist", () => {
  it("is told with all that was asked for and what there is instead", async () => {
    expect(await imageFor({ alias: "ubuntu:25.10", cloudInit: "V1" })).toBe(
      "no image with alias ubuntu:25.10, type HDD, cloudInit V1, location de/txl; " +
        "similar: ubuntu:26.04, ubuntu:24.04, ubuntu:22.04",
    );
  });

  it("is told with names where a name was asked for, and with the field for an alias", async () => {
    expect(await imageFor({ name: "ubuntu-25" })).toContain("similar: ubuntu-26.04-20260421, ubuntu-24.04-20260401");
    expect(await imageFor({ name: "ubuntu:24.04" })).toContain(
      "ubuntu:24.04 is an alias: set imageLookup.alias instead of name",
    );
  });

  it("is told as well where nothing comes near", async () => {
    expect(await imageFor({ alias: "ubuntu:latest", type: "UNKNOWN" })).toBe(
      "no image with alias ubuntu:latest, type UNKNOWN, location de/txl; no image is similar",
    );
  });

  it("includes one that only a CD-ROM has", async () => {
    expect(await imageFor({ alias: "ubuntu:latest_iso" })).toContain("no image with alias ubuntu:latest_iso");
  });
});

describe("numbers in the names of images", () => {
  const image = (id: string, name: string) => ({
    id,
    properties: { name, location: "de/txl", imageType: "HDD", cloudInit: "V1", imageAliases: null },
  });

  it("count as numbers", () => {
    const [lookup] = desire({ name: "rocky" }).lookups(located("de/txl"));
    const answer = { items: [image("a", "rocky-9-2025"), image("b", "rocky-10-2024"), image("c", "rocky-8-2026")] };
    expect(lookup?.pick(answer, {})).toEqual({ value: "b" });
  });
});

describe("the source of a volume", () => {
  const volumeOf = (source: object, given: Inputs) =>
    mapping
      .desire({
        datacenterRef: { name: "berlin" },
        cores: 1,
        ram: 1024,
        bootVolume: { size: 9, type: "HDD", ...source },
      })
      .body(given);
  const created = (properties: object) => ({ entities: { volumes: { items: [{ properties }] } } });

  it("is the image that was found", () => {
    const given = inputs({ found: { "bootVolume.imageLookup": "image-1" } });
    expect(volumeOf({ imageLookup: { name: "u" } }, given)).toMatchObject(created({ image: "image-1" }));
  });

  it("is the snapshot behind snapshotRef, which is needed at creation only", () => {
    const snapshotRef = { name: "golden" };
    const given = inputs({ refs: { "bootVolume.snapshotRef": { id: "snap-1", status: {} } } });
    expect(volumeOf({ snapshotRef }, given)).toMatchObject(created({ image: "snap-1" }));
    expect(desire({ name: "u" }, { imageLookup: undefined, snapshotRef }).references.slice(1)).toEqual([
      {
        role: "bootVolume.snapshotRef",
        kind: "Snapshot",
        field: "bootVolume.snapshotRef",
        target: snapshotRef,
        bond: "seed",
      },
    ]);
  });

  it("needs no lookup where spec names it", () => {
    expect(desire({ name: "u" }, { imageLookup: undefined, imageAlias: "debian:12" }).lookups(inputs())).toEqual([]);
  });
});

describe("a source in another location is a problem before the platform sees it", () => {
  const given = (snapshot: string, datacenter: string) =>
    inputs({
      refs: {
        datacenter: { id: "dc-1", status: { location: datacenter } },
        "bootVolume.snapshotRef": { id: "snap-1", status: { location: snapshot } },
      },
    });
  const fromSnapshot = desire({}, { imageLookup: undefined, snapshotRef: { name: "golden" } });

  it("for a snapshot", () => {
    expect(fromSnapshot.problem(given("de/fra", "de/txl"))).toBe(
      "bootVolume.snapshotRef: Snapshot golden is in de/fra, the datacenter in de/txl: " +
        "a snapshot can only be used in its own location",
    );
  });

  it.each([
    ["of the same location", "de/txl", "de/txl"],
    ["of the metro region", "de/fra", "de/fra/2"],
  ])("not for a snapshot %s", (_, snapshot, datacenter) => {
    expect(fromSnapshot.problem(given(snapshot, datacenter))).toBeUndefined();
  });

  it("for a lookup", () => {
    expect(desire({ name: "u", location: "de/fra" }).problem(located("de/txl"))).toBe(
      "bootVolume.imageLookup.location: de/fra is not the location of the datacenter: remove the field, or set de/txl",
    );
  });
});

describe("the template of a Cube", () => {
  const cube = (templateName: string) =>
    mapping.desire({
      datacenterRef: { name: "berlin" },
      type: "CUBE",
      templateName,
      bootVolume: { licenceType: "LINUX" },
    });

  it("is found by its name, in lower or upper case", async () => {
    const found = { templateName: "72e73b81-8551-4e74-b398-fc63b39994af" };
    expect(await lookUp(cube("Basic Cube XS").lookups(inputs()))).toEqual(found);
    expect(await lookUp(cube("basic cube xs").lookups(inputs()))).toEqual(found);
    expect(cube("Basic Cube XS").body(inputs({ found }))).toMatchObject({
      properties: { templateUuid: found.templateName },
    });
  });

  it("that does not exist is told with the names there are", async () => {
    const problem = await lookUp(cube("Basic Cube XXL").lookups(inputs()));
    expect(problem).toMatch(/^template Basic Cube XXL not found; valid: Basic Cube L, .*, Memory Cube XL$/);
  });
});
