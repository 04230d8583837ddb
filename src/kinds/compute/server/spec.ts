import { z } from "zod";
import {
  formed,
  inDatacenter,
  line,
  list,
  managed,
  memory,
  objectRef,
  platformName,
  uuid,
  whole,
} from "../../fields/fields.ts";
import { outputField } from "../../fields/secrets/output.ts";
import { nic } from "./nics.ts";
import { bootVolume } from "./volumes.ts";

/** The model of a server whose spec names none. */
export const DEFAULT_TYPE = "ENTERPRISE";

export const serverSpec = z.object({
  ...managed,
  ...inDatacenter,
  name: platformName("server"),
  hostname: formed(
    /^[a-z0-9][a-z0-9-]*$/,
    63,
    "must be a host name: lower-case letters, digits and '-', not beginning with '-'",
  )
    .optional()
    .describe("Host name of the machine. If unset, left unchanged."),
  type: z
    .enum(["ENTERPRISE", "VCPU", "CUBE"])
    .default(DEFAULT_TYPE)
    .describe("Model: ENTERPRISE has dedicated cores, VCPU shared cores, CUBE the fixed size of a template."),
  cores: whole(1, 62)
    .optional()
    .describe("Number of cores: at most 62 for ENTERPRISE, 60 for VCPU; fixed by the template for CUBE."),
  ram: memory()
    .optional()
    .describe("Memory in MB, a multiple of 256, at most 235520 (230 GB); fixed by the template for CUBE."),
  cpuFamily: z
    .enum([
      "AMD_EPYC",
      "AMD_TURIN",
      "INTEL_XEON",
      "INTEL_SKYLAKE",
      "INTEL_ICELAKE",
      "INTEL_SIERRAFOREST",
      "AMD_OPTERON",
    ])
    .optional()
    .describe("Processor family, for ENTERPRISE only. Default: chosen by the platform."),
  availabilityZone: z
    .enum(["AUTO", "ZONE_1", "ZONE_2"])
    .default("AUTO")
    .describe("Zone of the server. A Cube is always AUTO. ZONE_3 exists for volumes only."),
  templateUuid: uuid()
    .optional()
    .describe(
      "Id of the template that fixes the size of a Cube. Exactly one of templateUuid and templateName for CUBE.",
    ),
  templateName: line(64)
    .optional()
    .describe(
      "Name of the template that fixes the size of a Cube, for example Basic Cube XS; case-insensitive. Exactly one of templateUuid and templateName for CUBE.",
    ),
  bootVolume: bootVolume.optional().describe("Boot volume, created and deleted with the server."),
  bootVolumeRef: objectRef("Volume")
    .optional()
    .describe(
      "Volume to boot from, in the same datacenter. It is attached, and kept when the server is deleted. If changed, the other volume takes its place; if removed, it is detached. Excludes bootVolume.",
    ),
  nics: list(nic, { max: 64, unique: "name" })
    .optional()
    .describe("Network interfaces. NICs that are not in the list are removed. If unset, NICs are left unchanged."),
  powerState: z
    .enum(["Running", "Stopped", "Suspended"])
    .optional()
    .describe("Running or Stopped; a Cube is Running or Suspended. If unset, left unchanged; a new server is started."),
  ...outputField,
});

export type ServerSpec = z.output<typeof serverSpec>;
