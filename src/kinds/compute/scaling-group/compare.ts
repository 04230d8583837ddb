import { z } from "zod";
import { differences, known } from "../../fields/compare.ts";
import { isoDuration } from "../../fields/duration.ts";
import { fingerprint } from "../../fields/fingerprint.ts";
import type { Drift } from "../../kind.ts";
import { replicaNic, replicaVolume } from "./spec.ts";

export type Json = Readonly<Record<string, unknown>>;

const json = z.record(z.string(), z.unknown());
export const part = (value: unknown): Json => json.catch({}).parse(value);
const parts = (value: unknown): Json[] => z.array(json).catch([]).parse(value);

/** How far the properties of a group are from the wanted ones. What these do not set is not compared. */
export const groupDrift = (wanted: Json, found: Json): Drift[] =>
  compareParts("", comparable(wanted), comparable(found));

/** Properties in the words of spec and in one spelling, with what the platform takes for granted. */
function comparable({ name, minReplicaCount, maxReplicaCount, policy, replicaConfiguration }: Json): Json {
  return {
    name,
    minReplicas: minReplicaCount,
    maxReplicas: maxReplicaCount,
    policy: policy && comparablePolicy(part(policy)),
    replica: replicaConfiguration && comparableReplica(part(replicaConfiguration)),
  };
}

function comparablePolicy({ range, scaleInAction, scaleOutAction, ...rest }: Json): Json {
  const action = (given: unknown) => {
    const { cooldownPeriod, ...fields } = part(given);
    return { ...known(fields), cooldownPeriod: isoDuration(String(cooldownPeriod ?? "PT5M")) };
  };
  return {
    ...rest,
    range: isoDuration(String(range ?? "PT2M")),
    scaleInAction: { terminationPolicy: "OLDEST_SERVER_FIRST", ...action(scaleInAction) },
    scaleOutAction: action(scaleOutAction),
  };
}

function comparableReplica({ nics, volumes, ...rest }: Json): Json {
  // First-boot data is long, and its content is nobody's business in a status.
  const unseen = (value: unknown) => (value == null ? null : fingerprint(JSON.stringify(value)));
  return {
    availabilityZone: "AUTO",
    ...known(rest),
    nics: parts(nics).map((nic) => ({ dhcp: true, ...known(nic), targetGroup: nic.targetGroup ?? null })),
    volumes: parts(volumes).map((volume) => ({
      bootOrder: "AUTO",
      bus: "VIRTIO",
      ...known(volume),
      type: String(volume.type).toUpperCase().replace(" ", "_").replace(/^SSD$/, "SSD_PREMIUM"),
      sshKeys: unseen(known(volume).sshKeys),
      userData: unseen(volume.userData),
    })),
  };
}

function compareParts(path: string, wanted: Json, found: Json): Drift[] {
  return Object.entries(wanted).flatMap(([name, value]) => {
    const field = `${path}${name}`;
    if (Array.isArray(value)) return compareMembers(field, parts(value), parts(found[name]));
    if (isPart(value)) return compareParts(`${field}.`, value, part(found[name]));
    return differences({ [field]: [value, found[name]] });
  });
}

const isPart = (value: unknown): value is Json => typeof value === "object" && value !== null;
const namesake = (list: Json[], { name }: Json) => list.find((each) => each.name === name);

/** Members of lists are paired by name; a list is complete. */
function compareMembers(field: string, wanted: Json[], found: Json[]): Drift[] {
  const surplus = found.filter((each) => !namesake(wanted, each));
  return [
    ...wanted.flatMap((each) => {
      const at = `${field}[${each.name}]`;
      const match = namesake(found, each);
      return match ? compareParts(`${at}.`, each, match) : [{ field: at, wanted: "present", found: "absent" }];
    }),
    ...surplus.map(({ name }) => ({ field: `${field}[${name}]`, wanted: "absent", found: "present" })),
  ];
}

/** The body of a change, which carries all properties: those that spec does not know stay as they are. */
export function changedGroup(found: Json, wanted: Json): Json {
  const { location: _, targetReplicaCount: __, ...settable } = found;
  const replica = part(wanted.replicaConfiguration);
  const before = part(found.replicaConfiguration);
  return {
    ...merged(settable, wanted),
    datacenter: { id: part(found.datacenter).id },
    replicaConfiguration: {
      ...merged(before, replica),
      nics: members(before.nics, replica.nics, replicaNic),
      volumes: members(before.volumes, replica.volumes, replicaVolume),
    },
  };
}

function merged(found: Json, wanted: Json): Json {
  const set = Object.entries(wanted).filter(([, value]) => value !== undefined);
  return {
    ...found,
    ...Object.fromEntries(
      set.map(([name, value]) => [
        name,
        isPart(value) && !Array.isArray(value) ? merged(part(found[name]), value) : value,
      ]),
    ),
  };
}

/** What spec can say about a member and does not say is not there; what it cannot say stays. */
function members(found: unknown, wanted: unknown, { shape }: z.ZodObject): unknown {
  if (!Array.isArray(wanted)) return found;
  return parts(wanted).map((each) => {
    const foreign = Object.entries(namesake(parts(found), each) ?? {}).filter(([name]) => !(name in shape));
    return { ...Object.fromEntries(foreign), ...each };
  });
}
