import { isDeepStrictEqual } from "node:util";
import { uuidOfName } from "../../chance.ts";
import { mostCores, mostRam } from "../../records/limits.ts";
import { type Properties, type Resource, textIn } from "../../store/resource.ts";
import type { World } from "../../world.ts";
import type { Kind } from "../kind/kind.ts";
import { image, location, template } from "./image.ts";

const metroNames: Record<string, string> = {
  "de/fra": "frankfurt",
  "de/txl": "berlin",
  "de/fkb": "karlsruhe",
  "es/vit": "logrono",
  "fr/par": "paris",
  "gb/lhr": "london",
  "gb/bhx": "worcester",
  "us/las": "lasvegas",
  "us/ewr": "newark",
  "us/mci": "lenexa",
};

/** Sites beyond the first of a metro region; they have its images. */
const furtherSites: Record<string, string> = { "de/fra/2": "de/fra" };

const vendors: Record<string, string> = {
  INTEL_SKYLAKE: "GenuineIntel",
  INTEL_ICELAKE: "GenuineIntel",
  INTEL_XEON: "GenuineIntel",
  INTEL_SIERRAFOREST: "GenuineIntel",
  AMD_EPYC: "AuthenticAMD",
  AMD_TURIN: "AuthenticAMD",
};

/** Every CPU family a server may name. AMD_OPTERON is accepted, but no location lists it. */
export const cpuFamilies = [...Object.keys(vendors), "AMD_OPTERON"];

const cpuArchitecture = Object.entries(vendors).map(([cpuFamily, vendor]) => ({
  cpuFamily,
  maxCores: mostCores.ENTERPRISE,
  maxRam: mostRam,
  vendor,
}));

const cubes: [name: string, id: string, cores: number, ram: number, storageSize: number][] = [
  ["Basic Cube XS", "72e73b81-8551-4e74-b398-fc63b39994af", 1, 2048, 60],
  ["Basic Cube S", "864c2c89-ea4d-4bf9-9a27-9acfeb436666", 2, 4096, 120],
  ["Basic Cube M", "eda8d3b1-4d71-4502-8f22-2452adac0dc5", 4, 8192, 240],
  ["Basic Cube L", "253eef63-b8b8-4c8e-9084-3ca298b3593f", 8, 16384, 480],
  ["Basic Cube XL", "6382dca7-d4de-4238-b138-bdc600dc733b", 16, 32768, 960],
  ["Memory Cube S", "987fb209-cc10-4acb-82d7-07833919f40f", 2, 8192, 120],
  ["Memory Cube M", "e8a56b84-b717-42d9-85f6-123d12ed212e", 4, 16384, 240],
  ["Memory Cube L", "639f65b6-48e5-4b12-b447-947385276a52", 8, 32768, 480],
  ["Memory Cube XL", "8937cbb6-11a0-4e98-b2a5-d076cbaba3af", 16, 65536, 960],
];

interface ImageRow {
  name: string;
  aliases: string[];
  size: number;
  licenceType?: string;
  cdrom?: boolean;
}

const images: ImageRow[] = [
  { name: "ubuntu-26.04-20260421", aliases: ["ubuntu:latest", "ubuntu:26.04"], size: 3 },
  { name: "ubuntu-24.04-20260401", aliases: ["ubuntu:24.04"], size: 3 },
  { name: "ubuntu-22.04-20260401", aliases: ["ubuntu:22.04"], size: 3 },
  { name: "ubuntu-20.04-20250401", aliases: ["ubuntu:20.04"], size: 3 },
  { name: "debian-12-20260401", aliases: ["debian:latest", "debian:12"], size: 2 },
  { name: "debian-11-20260401", aliases: ["debian:11"], size: 2 },
  { name: "rocky-9-20260401", aliases: ["rocky:latest", "rocky:9"], size: 4 },
  { name: "almalinux-9-20260401", aliases: ["almalinux:latest"], size: 4 },
  { name: "centos-7-20240701", aliases: ["centos:7"], size: 4 },
  { name: "windows-2022-20260401", aliases: ["windows:2022"], size: 14, licenceType: "WINDOWS2022" },
  { name: "ubuntu-26.04-20260421.iso", aliases: ["ubuntu:latest_iso"], size: 2, cdrom: true },
  { name: "debian-12-20260401.iso", aliases: ["debian:latest_iso"], size: 1, cdrom: true },
  { name: "rocky-9-20260401.iso", aliases: ["rocky:latest_iso"], size: 2, cdrom: true },
];

function imageProperties({ name, aliases, size, licenceType = "LINUX", cdrom = false }: ImageRow, site: string) {
  const hotPlug = !cdrom;
  return {
    name,
    description: "",
    location: site,
    size,
    imageType: cdrom ? "CDROM" : "HDD",
    cloudInit: cdrom || licenceType !== "LINUX" ? "NONE" : "V1",
    public: true,
    imageAliases: aliases,
    requiredFeatures: [],
    licenceType,
    applicationType: "UNKNOWN",
    cpuHotPlug: hotPlug,
    cpuHotUnplug: false,
    ramHotPlug: false,
    ramHotUnplug: false,
    nicHotPlug: hotPlug,
    nicHotUnplug: hotPlug,
    discVirtioHotPlug: hotPlug,
    discVirtioHotUnplug: hotPlug,
    discScsiHotPlug: false,
    discScsiHotUnplug: false,
    exposeSerial: false,
    requireLegacyBios: true,
  };
}

function locationProperties(id: string, metroRegion: string): Properties {
  return {
    name: metroNames[metroRegion],
    metroRegion,
    features: ["SSD", "MULTIPLE_CPU", "PRIVATE_CROSS_CONNECTIVITY", "CLOUD_INIT"],
    imageAliases: images.flatMap(({ aliases }) => aliases),
    cpuArchitecture,
    gpuArchitecture: id === "de/fra/2" ? [{ vendor: "NVIDIA", model: "H200" }] : [],
  };
}

/** Whether two places, each with a `location`, are in one region: the further sites of a metro region belong to it. */
export function sameRegion(world: World, one: Properties, other: Properties): boolean {
  const regionOf = (place: Properties) => {
    const site = world.resources.get(`locations/${textIn(place, "location")}`);
    return site && textIn(site.properties, "metroRegion");
  };
  return regionOf(one) !== undefined && regionOf(one) === regionOf(other);
}

/** Stores the templates, locations and images that are missing or out of date. Inside a transaction. */
export function stockCatalogue(world: World): void {
  const put = (kind: Kind, id: string, properties: Properties) => {
    const key = `${kind.collection}/${id}`;
    const known = world.resources.get(key);
    if (known !== undefined && isDeepStrictEqual(known.properties, properties)) return;
    const since = Date.UTC(2026, 3, 21);
    const resource: Resource = {
      key,
      id,
      type: kind.type,
      collection: kind.collection,
      parent: "",
      refs: [],
      state: "AVAILABLE",
      properties,
      revision: known?.revision ?? 0,
      createdAt: since,
      createdBy: "",
      modifiedAt: since,
      modifiedBy: "",
      visibleAt: 0,
    };
    world.resources.put(resource);
  };

  for (const [name, id, cores, ram, storageSize] of cubes) {
    const category = name.split(" ").slice(0, 2).join(" ");
    put(template, id, { name, cores, ram, storageSize, storageType: "SSD Premium", category });
  }
  for (const id of Object.keys(metroNames)) {
    put(location, id, locationProperties(id, id));
    // The ids of images are the same in every simulator, whatever its seed.
    for (const row of images) put(image, uuidOfName(`${row.name}@${id}`), imageProperties(row, id));
  }
  for (const [id, metroRegion] of Object.entries(furtherSites)) put(location, id, locationProperties(id, metroRegion));
}
