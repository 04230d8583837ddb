import type { Drift, Inputs, Lookup, Mention, Reference, SecretInput } from "../../desired.ts";
import { firstBootProblem, firstBootProperties, firstBootSecrets } from "../../fields/boot/first-boot.ts";
import {
  imageLookups,
  imageMentions,
  imageProblem,
  imageProperties,
  imageReferences,
} from "../../fields/boot/images.ts";
import { asJson, asList, type Json, surplus } from "../../fields/compare.ts";
import { firewallAdvice, ruleProperties } from "../../fields/network/firewall.ts";
import { flowLogProperties } from "../../fields/network/flow-log.ts";
import { lanMentions, lanNumber, lanProblem, lanReferences } from "../../fields/network/nic-lan.ts";
import type { ReplicaNic, ReplicaVolume, ScalingGroupSpec } from "./spec.ts";

type Spec = Pick<ScalingGroupSpec, "replica">;

const nicsOf = ({ replica }: Spec) => replica?.nics ?? [];
const volumesOf = ({ replica }: Spec) => replica?.volumes ?? [];
/** Paths of NIC and volume fields in spec. */
const nicAt = ({ name }: { name: string }) => `replica.nics[${name}].`;
const volumeAt = ({ name }: { name: string }) => `replica.volumes[${name}].`;
const lanRole = (nic: { name: string }) => `${nicAt(nic)}lanRef`;

export const replicaReferences = (spec: Spec): Reference[] => [
  ...nicsOf(spec).flatMap((nic) => lanReferences(nic, lanRole(nic))),
  ...volumesOf(spec).flatMap((volume) => imageReferences(volume, volumeAt(volume), "use")),
];

export const replicaMentions = (spec: Spec): Mention[] => [
  ...nicsOf(spec).flatMap(({ targetGroup, ...nic }) => [
    ...lanMentions(nic, `${nicAt(nic)}lan`),
    ...(targetGroup ? [{ field: `${nicAt(nic)}targetGroup.targetGroupId`, value: targetGroup.targetGroupId }] : []),
  ]),
  ...volumesOf(spec).flatMap((volume) => imageMentions(volume, volumeAt(volume))),
];

export const replicaSecrets = (spec: Spec): SecretInput[] =>
  volumesOf(spec).flatMap((volume) => firstBootSecrets(volume, volumeAt(volume)));

export const replicaLookups = (spec: Spec, inputs: Inputs): Lookup[] =>
  volumesOf(spec).flatMap((volume) => imageLookups(volume, inputs, volumeAt(volume)));

export function replicaProblem(spec: Spec, inputs: Inputs): string | undefined {
  const problems = [
    ...nicsOf(spec).map((nic) => lanProblem(nic, lanRole(nic), inputs, "group")),
    ...volumesOf(spec).flatMap((volume) => [
      imageProblem(volume, inputs, volumeAt(volume)),
      firstBootProblem(volume, inputs, volumeAt(volume)),
    ]),
  ];
  return problems.find((each) => each !== undefined);
}

/** On a group that Mooring did not create, what spec leaves out is not known: a firewall may be on, and have rules. */
export function replicaAdvice(spec: Spec, { adopted }: Pick<Inputs, "adopted">): string[] {
  const isTold = ({ firewallActive, firewallRules }: ReplicaNic) =>
    !adopted || (firewallActive !== undefined && firewallRules !== undefined);
  const nics = nicsOf(spec).filter(isTold);
  return [
    ...firewallAdvice(
      nics.map((nic) => ({ ...nic, firewallActive: nic.firewallActive ?? false })),
      "replica.",
    ),
    ...(adopted && mayLosePassword(spec) ? [passwordAdvice] : []),
  ];
}

const passwordAdvice =
  "replica.volumes: the platform does not show the password of an image: if one was set before the adoption, name it in imagePasswordSecretRef, or the first change of the group removes it";

/** Whether new replicas may be out of reach without the password of their image. */
function mayLosePassword({ replica }: Spec): boolean {
  if (!replica?.volumes) return true;
  return replica.volumes.some(
    ({ imagePasswordSecretRef, sshKeys, userData, userDataSecretRef }) =>
      !(imagePasswordSecretRef || sshKeys?.length || userData || userDataSecretRef),
  );
}

/** The template as spec has it, without what it leaves out. */
export function replicaConfiguration({ replica }: Spec, inputs: Inputs): Json | undefined {
  if (!replica) return undefined;
  const nic = ({ lanRef, lan, firewallRules, flowLogs, ...rest }: ReplicaNic) => ({
    ...rest,
    lan: lanNumber({ lanRef, lan }, lanRole(rest), inputs),
    firewallRules: firewallRules?.map(ruleProperties),
    flowLogs: flowLogs?.map(({ name, ...log }) => ({ name, ...flowLogProperties(log) })),
  });
  const volume = (given: ReplicaVolume) => {
    const { snapshotRef: _, imageLookup: __, userDataSecretRef: ___, imagePasswordSecretRef: ____, ...rest } = given;
    const at = volumeAt(given);
    return { ...rest, ...imageProperties(given, inputs, at), ...firstBootProperties(given, inputs, at) };
  };
  return { ...replica, nics: replica.nics?.map(nic), volumes: replica.volumes?.map(volume) };
}

/** The user data of this field comes from a Secret, so it cannot be compared with the platform's. */
export const isInSecret = (spec: Spec, field: string): boolean =>
  volumesOf(spec).some((volume) => volume.userDataSecretRef && field === `${volumeAt(volume)}userData`);

/** Drift of the Secrets and lookups that changed since the last write, or that spec no longer names. */
export function outdatedDrift(spec: Spec, { outdated = [] }: Inputs): Drift[] {
  const named = volumesOf(spec).flatMap((volume) => Object.keys(volume).map((field) => `${volumeAt(volume)}${field}`));
  return outdated.map((field) =>
    named.includes(field) ? { field, wanted: "current", found: "outdated" } : surplus(field),
  );
}

/** Images found by a lookup that has not changed. A newer image does not replace them. */
export function imagesKept(spec: Spec, found: Json, { outdated = [] }: Inputs): Record<string, string> {
  const foundVolumes = asList(asJson(found.replicaConfiguration).volumes);
  return Object.fromEntries(
    volumesOf(spec).flatMap((volume) => {
      const field = `${volumeAt(volume)}imageLookup`;
      const image = foundVolumes.find(({ name }) => name === volume.name)?.image;
      return volume.imageLookup && typeof image === "string" && !outdated.includes(field) ? [[field, image]] : [];
    }),
  );
}
