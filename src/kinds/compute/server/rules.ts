import { datacenterRules, managedRules, whenCreated } from "../../fields/fields.ts";
import { about, either } from "../../fields/rules.ts";
import type { Rule, Rules } from "../../kind.ts";

const needs = (field: string): Rule => ({
  rule: `has(self.${field})`,
  message: `${field} is required for ENTERPRISE and VCPU servers`,
});
const fixedByTemplate = (field: string): Rule => ({
  rule: `!has(self.${field})`,
  message: `${field} is fixed by the template of a Cube: remove the field`,
});
const cubesOnly = (field: string): Rule => ({
  rule: `!has(self.${field})`,
  message: `${field} is for Cubes only: remove it or set type: CUBE`,
});

const oneBootVolume = "bootVolumeRef excludes bootVolume, and a Cube boots from its own volume: remove one of them";
const enterpriseOnly = "cpuFamily can be chosen for ENTERPRISE servers only: remove the field";
const DAS = "bootVolume.type DAS is for Cubes, and a Cube has no other: remove the field or change it";

const ofCubes: Rules[] = [
  fixedByTemplate("cores"),
  fixedByTemplate("ram"),
  { rule: "!has(self.cpuFamily)", message: enterpriseOnly },
  { rule: "self.availabilityZone == 'AUTO'", message: "availabilityZone of a Cube is always AUTO: remove the field" },
  whenCreated({
    rule: "has(self.templateUuid) != has(self.templateName)",
    message: "exactly one of templateUuid and templateName is required for a Cube",
  }),
  { rule: "!has(self.bootVolumeRef)", message: oneBootVolume },
  {
    rule: "!has(self.powerState) || self.powerState != 'Stopped'",
    message: "powerState: a Cube cannot be Stopped, only Suspended (which keeps billing)",
  },
  about(
    "bootVolume",
    [
      fixedByTemplate("bootVolume.size"),
      { rule: "!has(self.bootVolume.type) || self.bootVolume.type == 'DAS'", message: DAS },
    ],
    [whenCreated({ rule: "false", message: "bootVolume is required for a Cube: its direct-attached volume" })],
  ),
];

const ofOthers: Rules[] = [
  whenCreated(needs("cores")),
  whenCreated(needs("ram")),
  either("self.type == 'VCPU'", [
    { rule: "!has(self.cores) || self.cores <= 60", message: "cores: a VCPU server has at most 60 cores" },
    { rule: "!has(self.cpuFamily)", message: enterpriseOnly },
  ]),
  cubesOnly("templateUuid"),
  cubesOnly("templateName"),
  { rule: "!has(self.bootVolumeRef) || !has(self.bootVolume)", message: oneBootVolume },
  {
    rule: "!has(self.powerState) || self.powerState != 'Suspended'",
    message: "powerState: only a Cube can be Suspended; use Stopped",
  },
  about("bootVolume", [
    whenCreated(needs("bootVolume.size")),
    whenCreated(needs("bootVolume.type")),
    { rule: "self.bootVolume.?type.orValue('') != 'DAS'", message: DAS },
  ]),
];

export const serverRules: Rules[] = [
  ...managedRules,
  ...datacenterRules,
  about("type", [either("self.type == 'CUBE'", ofCubes, ofOthers)]),
  {
    rule: "has(self.bootVolume) == has(oldSelf.bootVolume)",
    message:
      "bootVolume cannot be added or removed while the server exists: leave it as it is or, to have the server with its boot volume, or without it, set deletionPolicy: Retain, delete the object and create it again with externalId",
  },
];
