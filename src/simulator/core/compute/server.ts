import { z } from "zod";
import type { Call } from "../../http/exchange.ts";
import { invalid, refused } from "../../http/refusal.ts";
import { limitsOf, mostCores, mostRam } from "../../records/limits.ts";
import { hrefOf, numberIn, type Properties, textIn } from "../../store/resource.ts";
import type { World } from "../../world.ts";
import type { Draft, Kind } from "../kind/kind.ts";
import { assignedSecurityGroups } from "../network/security-group.ts";
import { cpuFamilies } from "./catalogue.ts";
import { bootCdOf, cdroms, insertBootCd, reference } from "./cd-drive.ts";
import { attachVolume, detachVolume } from "./volume-attachment.ts";

const oneNvmeVolume = "a server of type CUBE needs exactly one inline volume, of type DAS";

export const server: Kind = {
  type: "server",
  collection: "servers",
  param: "serverId",
  parents: ["datacenter"],
  verbs: { collection: "GP", item: "GUAD" },
  paged: true,
  schema: z.object({
    name: z.string().nullish(),
    hostname: z
      .string()
      .max(63)
      .regex(/^[a-z0-9][a-z0-9-]*$/, "may contain a-z, 0-9 and -, and does not start with -")
      .nullish(),
    type: z.enum(["ENTERPRISE", "CUBE", "VCPU"]).nullish(),
    cores: z.int().nullish(),
    ram: z.int().nullish(),
    cpuFamily: z.string().nullish(),
    availabilityZone: z.enum(["AUTO", "ZONE_1", "ZONE_2"]).nullish(),
    templateUuid: z.string().nullish(),
    bootVolume: reference.nullish(),
    bootCdrom: reference.nullish(),
    nicMultiQueue: z.boolean().nullish(),
  }),
  createOnly: ["type", "templateUuid"],
  defaults: { type: "ENTERPRISE", availabilityZone: "AUTO", nicMultiQueue: false },
  keptOnPut: ["cores", "ram", "cpuFamily", "bootVolume", "bootCdrom", "hostname"],
  spans: { create: [5, 12], update: [2, 4], delete: [2, 4] },
  settled: { vmState: "RUNNING" },
  links: [
    {
      collection: "volumes",
      type: "volume",
      param: "volumeId",
      verbs: { collection: "GP", item: "GD" },
      creates: true,
      attach: attachVolume,
      detach: detachVolume,
    },
    cdroms,
    assignedSecurityGroups,
  ],

  shape(draft) {
    const { world, key, next, previous } = draft;
    if (next.type === "CUBE") shapeCube(draft);
    else shapeFlexible(draft, next.type === "VCPU" ? "VCPU" : "ENTERPRISE");
    insertBootCd(draft);
    if (previous === null) next.vmState = "NOSTATE";
    else checkAgainstVolumes(world, key, next, "(root)");
  },

  assembled: (world, { key, properties }, path) => checkAgainstVolumes(world, key, properties, path),

  guard(_world, { properties }, write) {
    if (write === "update" && properties.vmState === "SUSPENDED") {
      throw refused("[VDC-14-30] A suspended Cube cannot be updated; resume it first");
    }
  },

  /** The NVMe volume of a Cube is deleted with its server; the others only when the caller asks for it. */
  alsoDeleted(world, resource, call) {
    const all = asksToDeleteVolumes(call);
    return world.resources.referrers(resource.key, "volume").filter((each) => all || each.properties.type === "DAS");
  },

  view(world, resource, origin) {
    const volumes = world.resources.referrers(resource.key, "volume");
    const chosen = reference.safeParse(resource.properties.bootVolume).data?.id;
    const boot = volumes.find((each) => each.id === chosen) ?? volumes[0];
    return {
      ...resource.properties,
      bootVolume: boot === undefined ? null : { id: boot.id, type: "volume", href: hrefOf(origin, boot.key) },
      bootCdrom: bootCdOf(resource.properties, origin),
    };
  },
};

function asksToDeleteVolumes(call: Call): boolean {
  return call.query.get("deleteVolumes")?.toLowerCase() === "true";
}

/** A server with cores and RAM of the caller's choice: Dedicated Core or vCPU. */
function shapeFlexible(draft: Draft, type: "ENTERPRISE" | "VCPU"): void {
  const { next, given, previous } = draft;
  const cores = numberIn(next, "cores");
  const limits = limitsOf(draft.world);
  const most = Math.min(mostCores[type], limits.coresPerServer);
  if (cores === undefined) draft.fault("cores", "is required");
  else if (cores < 1 || cores > most) draft.fault("cores", `must be from 1 to ${most} on a server of type ${type}`);
  const ram = numberIn(next, "ram");
  if (ram === undefined) draft.fault("ram", "is required");
  else if (ram < 256 || ram > Math.min(mostRam, limits.ramPerServer)) {
    draft.fault("ram", `must be from 256 to ${Math.min(mostRam, limits.ramPerServer)} MB`);
  } else if (ram % 256 !== 0) draft.fault("ram", "must be a multiple of 256 MB");
  if (given.templateUuid !== undefined) draft.fault("templateUuid", "is for servers of type CUBE only");
  const family = textIn(given, "cpuFamily") ?? "";
  if (type === "VCPU") {
    if (family !== "" && (draft.write === "patch" || changes(draft, "cpuFamily"))) {
      draft.fault("cpuFamily", "cannot be chosen or changed on a server of type VCPU; leave it out");
    }
    next.cpuFamily = previous?.properties.cpuFamily ?? platformsChoice(draft);
    return;
  }
  if (family !== "" && !cpuFamilies.includes(family)) {
    draft.fault("cpuFamily", `must be one of ${cpuFamilies.join(", ")}`);
  }
  next.cpuFamily = family || (previous?.properties.cpuFamily ?? platformsChoice(draft));
}

/** Whether the body changes the property. Sending back the value that a read shows is always allowed. */
const changes = ({ given, previous }: Draft, property: string) => given[property] !== previous?.properties[property];

function platformsChoice({ world, parent }: Draft): string {
  const location = world.resources.get(`locations/${textIn(parent?.properties ?? {}, "location")}`);
  const offered = z.array(z.object({ cpuFamily: z.string() })).safeParse(location?.properties.cpuArchitecture).data;
  return offered?.[0]?.cpuFamily ?? "INTEL_SKYLAKE";
}

/** A Cube: cores, RAM and the NVMe volume come from the template and never change. */
function shapeCube(draft: Draft): void {
  const { world, next, given, previous, inline } = draft;
  for (const property of ["cores", "ram"]) {
    if (given[property] !== undefined && changes(draft, property)) {
      draft.fault(property, "is fixed by the template of a server of type CUBE; leave it out");
    }
  }
  if ((textIn(given, "cpuFamily") ?? "") !== "" && changes(draft, "cpuFamily")) {
    draft.fault("cpuFamily", "cannot be chosen on a server of type CUBE; leave it out");
  }
  if (next.availabilityZone !== "AUTO") draft.fault("availabilityZone", "must be AUTO on a server of type CUBE");
  if (given.nicMultiQueue === true) draft.fault("nicMultiQueue", "is not available on a server of type CUBE");
  if (previous !== null) return;
  const templateUuid = textIn(given, "templateUuid");
  const template = templateUuid === undefined ? undefined : world.resources.get(`templates/${templateUuid}`);
  if (templateUuid === undefined) draft.fault("templateUuid", "is required for a server of type CUBE");
  else if (template === undefined) draft.fault("templateUuid", `the template ${templateUuid} does not exist`);
  next.cores = template?.properties.cores;
  next.ram = template?.properties.ram;
  next.cpuFamily = platformsChoice(draft);
  if (inline.volumes?.length !== 1) {
    throw invalid(`${draft.path}.entities.volumes`, oneNvmeVolume);
  }
}

/** Checks the rules that depend on the volumes of the server. A new server has its inline volumes by then. */
function checkAgainstVolumes(world: World, key: string, properties: Properties, path: string): void {
  const volumes = world.resources.referrers(key, "volume");
  const boot = reference.safeParse(properties.bootVolume).data?.id;
  if (boot !== undefined && !volumes.some(({ id }) => id === boot)) {
    throw invalid(`${path}.properties.bootVolume`, `the volume ${boot} is not attached to the server`);
  }
  const hotPlug = volumes.some((volume) => volume.properties.ramHotPlug === true);
  if (hotPlug && (numberIn(properties, "ram") ?? 0) < 1024) {
    throw invalid(`${path}.properties.ram`, "must be at least 1024 with RAM hot-plug");
  }
  if (properties.type === "CUBE" && !volumes.some((volume) => volume.properties.type === "DAS")) {
    throw invalid(`${path}.entities.volumes`, oneNvmeVolume);
  }
}

/** A graphics card of a server. Servers with one cannot be created here: only the demo data has one. */
export const gpu: Kind = {
  type: "gpu",
  collection: "gpus",
  param: "gpuId",
  parents: ["server"],
  verbs: { collection: "G", item: "G" },
  paged: false,
  schema: z.object({}),
};
