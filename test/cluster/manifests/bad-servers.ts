import { cube, dedicated, vcpu } from "./base.ts";
import { bad, long, someId } from "./table.ts";

export const badServers = [
  ...bad(dedicated, "Server", [
    ["no datacenter", { datacenterRef: null }, "exactly one of datacenterRef and datacenterId is required"],
    ["two datacenters", { datacenterId: someId }, "exactly one of datacenterRef and datacenterId is required"],
    [
      "a datacenter id that is none",
      { datacenterRef: null, datacenterId: "berlin" },
      "spec.datacenterId",
      "must be a UUID",
    ],
    [
      "a datacenter without a name",
      { datacenterRef: { name: "" } },
      "spec.datacenterRef.name",
      "must be the name of an object",
    ],
    ["an empty name", { name: "" }, "spec.name", "at least 1 chars long"],
    ["a name of 256 characters", { name: long(256) }, "spec.name", "255"],
    ["a GPU server", { type: "GPU" }, "spec.type", 'supported values: "ENTERPRISE", "VCPU", "CUBE"'],
    ["a misspelt field", { coers: 4 }, 'unknown field "spec.coers"'],
    ["no cores", { cores: null }, "cores is required for ENTERPRISE and VCPU servers"],
    ["0 cores", { cores: 0 }, "spec.cores", "greater than or equal to 1"],
    ["63 cores", { cores: 63 }, "spec.cores", "less than or equal to 62"],
    ["half a core", { cores: 0.5 }, "spec.cores", "must be of type integer"],
    ["cores as text", { cores: "4" }, "spec.cores", "must be of type integer"],
    ["no ram", { ram: null }, "ram is required for ENTERPRISE and VCPU servers"],
    ["ram that is no multiple of 256", { ram: 1000 }, "ram must be a multiple of 256 MB (0.25 GB)"],
    ["ram below 256 MB", { ram: 128 }, "spec.ram", "greater than or equal to 256"],
    ["ram above 230 GB", { ram: 235_776 }, "spec.ram", "less than or equal to 235520"],
    ["ram with a unit", { ram: "8Gi" }, "spec.ram", "must be of type integer"],
    ["an unknown processor", { cpuFamily: "ARM" }, "spec.cpuFamily", '"INTEL_ICELAKE"'],
    ["zone 3", { availabilityZone: "ZONE_3" }, "spec.availabilityZone", 'supported values: "AUTO", "ZONE_1", "ZONE_2"'],
    ["a template", { templateUuid: someId }, "templateUuid is for Cubes only: remove it or set type: CUBE"],
    ["suspended", { powerState: "Suspended" }, "powerState: only a Cube can be Suspended; use Stopped"],
    ["a power state as a boolean", { powerState: true }, "spec.powerState", "must be of type string"],
    [
      "an unknown power state",
      { powerState: "Off" },
      "spec.powerState",
      'supported values: "Running", "Stopped", "Suspended"',
    ],
  ]),
  ...bad(vcpu, "vCPU server", [
    ["61 cores", { cores: 61 }, "cores: a VCPU server has at most 60 cores"],
    [
      "a processor family",
      { cpuFamily: "INTEL_ICELAKE" },
      "cpuFamily can be chosen for ENTERPRISE servers only: remove the field",
    ],
    ["no cores", { cores: null }, "cores is required for ENTERPRISE and VCPU servers"],
    ["suspended", { powerState: "Suspended" }, "powerState: only a Cube can be Suspended; use Stopped"],
  ]),
  ...bad(cube, "Cube", [
    ["no template", { templateUuid: null }, "templateUuid is required for a Cube"],
    ["a template by name", { templateUuid: "Basic Cube XS" }, "spec.templateUuid", "must be a UUID"],
    ["cores", { cores: 1 }, "cores is fixed by the template of a Cube: remove the field"],
    ["ram", { ram: 2048 }, "ram is fixed by the template of a Cube: remove the field"],
    [
      "a processor family",
      { cpuFamily: "AMD_EPYC" },
      "cpuFamily can be chosen for ENTERPRISE servers only: remove the field",
    ],
    ["a zone", { availabilityZone: "ZONE_1" }, "availabilityZone of a Cube is always AUTO: remove the field"],
    ["no boot volume", { bootVolume: null }, "bootVolume is required for a Cube: its direct-attached volume"],
    [
      "a boot volume with a size",
      { bootVolume: { size: 60 } },
      "bootVolume.size is fixed by the template of a Cube: remove the field",
    ],
    [
      "a boot volume of another type",
      { bootVolume: { type: "HDD" } },
      "bootVolume.type DAS is for Cubes, and a Cube has no other",
    ],
    [
      "stopped",
      { powerState: "Stopped" },
      "powerState: a Cube cannot be Stopped, only Suspended (which keeps billing)",
    ],
  ]),
];
