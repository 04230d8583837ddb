import { datacenterRules, managedRules, whenManaged } from "../../fields/fields.ts";
import { firstBootRules } from "../../fields/first-boot.ts";
import { imageRules } from "../../fields/images.ts";
import type { Rule } from "../../kind.ts";
import { BOOT } from "./volumes.ts";

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
const cubesOnly = (field: string): Rule => ({
  rule: `${cube} || !has(self.${field})`,
  message: `${field} is for Cubes only: remove it or set type: CUBE`,
});
const volumeRule = (rule: string, message: string): Rule => ({ rule: `!has(self.bootVolume) || (${rule})`, message });

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
  whenManaged({
    rule: `!(${cube}) || has(self.templateUuid) != has(self.templateName)`,
    message: "exactly one of templateUuid and templateName is required for a Cube",
  }),
  cubesOnly("templateUuid"),
  cubesOnly("templateName"),
  whenManaged({
    rule: `!(${cube}) || has(self.bootVolume)`,
    message: "bootVolume is required for a Cube: its direct-attached volume",
  }),
  {
    rule: `!has(self.bootVolumeRef) || !(has(self.bootVolume) || ${cube})`,
    message: "bootVolumeRef excludes bootVolume, and a Cube boots from its own volume: remove one of them",
  },
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
  ...[...imageRules(BOOT), ...firstBootRules(BOOT)].map(({ rule, message }) => volumeRule(rule, message)),
  {
    rule: "!has(self.bootVolume) || !has(oldSelf.bootVolume) || !has(self.bootVolume.size) || !has(oldSelf.bootVolume.size) || self.bootVolume.size >= oldSelf.bootVolume.size",
    message: "bootVolume.size can only grow: keep the size, or delete the object and create it again",
  },
  {
    rule: "has(self.bootVolume) == has(oldSelf.bootVolume)",
    message: "bootVolume cannot be added or removed later: delete the object and create it again",
  },
];
