import { z } from "zod";
import {
  address,
  datacenterRules,
  formed,
  inDatacenter,
  managed,
  managedRules,
  objectName,
  platformName,
  secretKey,
  uuid,
  whenManaged,
  whole,
} from "./fields.ts";
import type { Rule } from "./kind.ts";

const bootVolume = z.object({
  name: platformName("boot volume", "the server's name with -boot added"),
  size: whole(1, 1_000_000)
    .optional()
    .describe("Size in GB; can only grow. Required, except for a Cube, where the template fixes it."),
  type: z
    .enum(["HDD", "SSD Standard", "SSD Premium", "DAS"])
    .optional()
    .describe("Storage technology. Required, except for a Cube, which always has DAS."),
  image: uuid().optional().describe("Id of the image or snapshot it starts from. Excludes imageAlias."),
  imageAlias: formed(
    /^[a-z0-9_.-]+:[a-z0-9_.-]+$/,
    128,
    "must be an alias <distribution>:<version>, for example ubuntu:latest",
  )
    .optional()
    .describe("Alias of the image it starts from, for example ubuntu:latest. Excludes image."),
  sshKeys: z
    .array(
      formed(/^[^\s-][^\r\n]*$/, 16_384, "must be one public key, on one line as in authorized_keys").describe(
        "A public key in the form of authorized_keys.",
      ),
    )
    .max(100)
    .optional()
    .describe("Public keys for the default user. Used at creation only."),
  userData: formed(
    /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/,
    65_536,
    "must be base64 without line breaks; plain text goes into a Secret, see userDataSecretRef",
  )
    .optional()
    .describe("First-boot configuration, base64. Used at creation only. Excludes userDataSecretRef."),
  userDataSecretRef: z
    .object({
      name: objectName().describe("Name of the Secret, in the same namespace."),
      key: secretKey().default("userData").describe("Key that holds the plain first-boot configuration."),
    })
    .optional()
    .describe("A Secret with the first-boot configuration. Used at creation only. Excludes userData."),
  licenceType: z
    .enum(["UNKNOWN", "WINDOWS", "WINDOWS2016", "WINDOWS2019", "WINDOWS2022", "WINDOWS2025", "RHEL", "LINUX", "OTHER"])
    .optional()
    .describe("Licence of the operating system. Required when neither image nor imageAlias is set."),
  bus: z.enum(["VIRTIO", "IDE"]).optional().describe("How the volume is connected. The platform's default is VIRTIO."),
});

const nic = z.object({
  name: z.string().min(1).max(255).describe("Name of the NIC, unique within the server."),
  lan: whole(1, 1_000_000).describe("Number of the LAN in the datacenter; an unknown one is created by the platform."),
  dhcp: z.boolean().default(true).describe("Whether the address is given by DHCP."),
  ips: z
    .array(address().describe("An IPv4 address; public ones come from an IP block of the contract."))
    .max(64)
    .meta({ "x-kubernetes-list-type": "set" })
    .optional()
    .describe("Fixed addresses. Default: given by the platform."),
  firewallActive: z.boolean().default(false).describe("Whether the NIC's firewall is on."),
});

export const serverSpec = z.object({
  ...managed,
  ...inDatacenter,
  name: platformName("server"),
  type: z
    .enum(["ENTERPRISE", "VCPU", "CUBE"])
    .default("ENTERPRISE")
    .describe("ENTERPRISE is a Dedicated Core server, VCPU shares its cores, CUBE has the fixed size of a template."),
  cores: whole(1, 62)
    .optional()
    .describe("Number of cores: at most 62 for ENTERPRISE, 60 for VCPU; fixed by the template for CUBE."),
  ram: whole(256, 235_520)
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
    .describe("Processor family, for ENTERPRISE only. Default: the platform picks one."),
  availabilityZone: z
    .enum(["AUTO", "ZONE_1", "ZONE_2"])
    .default("AUTO")
    .describe("Zone of the server. A Cube is always AUTO. ZONE_3 exists for volumes only."),
  templateUuid: uuid()
    .optional()
    .describe("Template that fixes the size of a Cube. Required for CUBE, not allowed otherwise."),
  bootVolume: bootVolume.optional().describe("The volume it boots from, created and deleted with the server."),
  nics: z
    .array(nic)
    .max(64)
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] })
    .optional()
    .describe("Network interfaces, created and deleted with the server."),
  powerState: z
    .enum(["Running", "Stopped", "Suspended"])
    .optional()
    .describe("Running or Stopped; a Cube is Running or Suspended. Default: as it is; a new server is started."),
});

export type ServerSpec = z.output<typeof serverSpec>;

const cube = "self.type == 'CUBE'";
const needs = (field: string): Rule =>
  whenManaged({
    rule: `${cube} || has(self.${field})`,
    message: `${field} is required for ENTERPRISE and VCPU servers`,
  });
const fixedByTemplate = (field: string): Rule => ({
  rule: `!(${cube}) || !has(self.${field})`,
  message: `${field} is fixed by the template of a Cube: remove the field`,
});
const volumeRule = (rule: string, message: string): Rule => ({ rule: `!has(self.bootVolume) || ${rule}`, message });

export const serverRules: Rule[] = [
  ...managedRules,
  ...datacenterRules,
  needs("cores"),
  needs("ram"),
  fixedByTemplate("cores"),
  fixedByTemplate("ram"),
  {
    rule: "self.type != 'VCPU' || !has(self.cores) || self.cores <= 60",
    message: "cores: a VCPU server has at most 60 cores",
  },
  { rule: "!has(self.ram) || self.ram % 256 == 0", message: "ram must be a multiple of 256 MB (0.25 GB)" },
  {
    rule: "self.type == 'ENTERPRISE' || !has(self.cpuFamily)",
    message: "cpuFamily can be chosen for ENTERPRISE servers only: remove the field",
  },
  {
    rule: `!(${cube}) || self.availabilityZone == 'AUTO'`,
    message: "availabilityZone of a Cube is always AUTO: remove the field",
  },
  whenManaged({ rule: `!(${cube}) || has(self.templateUuid)`, message: "templateUuid is required for a Cube" }),
  {
    rule: `${cube} || !has(self.templateUuid)`,
    message: "templateUuid is for Cubes only: remove it or set type: CUBE",
  },
  whenManaged({
    rule: `!(${cube}) || has(self.bootVolume)`,
    message: "bootVolume is required for a Cube: its direct-attached volume",
  }),
  {
    rule: `!(${cube}) || !has(self.powerState) || self.powerState != 'Stopped'`,
    message: "powerState: a Cube cannot be Stopped, only Suspended (which keeps billing)",
  },
  {
    rule: `${cube} || !has(self.powerState) || self.powerState != 'Suspended'`,
    message: "powerState: only a Cube can be Suspended; use Stopped",
  },
  volumeRule(`${cube} || has(self.bootVolume.size)`, "bootVolume.size is required for ENTERPRISE and VCPU servers"),
  volumeRule(
    `!(${cube}) || !has(self.bootVolume.size)`,
    "bootVolume.size is fixed by the template of a Cube: remove the field",
  ),
  volumeRule(`${cube} || has(self.bootVolume.type)`, "bootVolume.type is required for ENTERPRISE and VCPU servers"),
  volumeRule(
    `!has(self.bootVolume.type) || (self.bootVolume.type == 'DAS') == (${cube})`,
    "bootVolume.type DAS is for Cubes, and a Cube has no other: remove the field or change it",
  ),
  volumeRule(
    "has(self.bootVolume.image) || has(self.bootVolume.imageAlias) || has(self.bootVolume.licenceType)",
    "bootVolume needs an image, an imageAlias or, for an empty volume, a licenceType",
  ),
  volumeRule(
    "!(has(self.bootVolume.image) && has(self.bootVolume.imageAlias))",
    "bootVolume.image and bootVolume.imageAlias exclude each other: remove one of them",
  ),
  volumeRule(
    "!(has(self.bootVolume.userData) && has(self.bootVolume.userDataSecretRef))",
    "bootVolume.userData and bootVolume.userDataSecretRef exclude each other: remove one of them",
  ),
  volumeRule(
    "!(has(self.bootVolume.userData) || has(self.bootVolume.userDataSecretRef)) || has(self.bootVolume.image) || has(self.bootVolume.imageAlias)",
    "bootVolume.userData needs an image with cloud-init: set image or imageAlias",
  ),
  {
    rule: "!has(self.bootVolume) || !has(oldSelf.bootVolume) || !has(self.bootVolume.size) || !has(oldSelf.bootVolume.size) || self.bootVolume.size >= oldSelf.bootVolume.size",
    message: "bootVolume.size can only grow: keep the size, or delete the object and create it again",
  },
  {
    rule: "has(self.bootVolume) == has(oldSelf.bootVolume)",
    message: "bootVolume cannot be added or removed later: delete the object and create it again",
  },
  {
    rule: "(has(self.nics) ? self.nics.size() : 0) == (has(oldSelf.nics) ? oldSelf.nics.size() : 0) && (!has(self.nics) || self.nics.all(n, oldSelf.nics.exists(o, o.name == n.name)))",
    message: "nics cannot be added, removed or renamed later: delete the object and create it again",
  },
];
