import type { z } from "zod";
import type { Drift } from "../../desired.ts";
import { asJson, asList, isJson, type Json, known, nested } from "../../fields/compare.ts";
import { isoDuration } from "../../fields/duration.ts";
import { fingerprint } from "../../fields/fingerprint.ts";
import { comparableRule, wireRule } from "../../fields/firewall.ts";
import { replicaNic, replicaVolume } from "./spec.ts";

/** How far the properties of a group are from the wanted ones. What these do not set is not compared. */
export const groupDrift = (wanted: Json, found: Json): Drift[] => nested(comparable(wanted), comparable(found));

/** Properties in the words of spec and in one spelling, with what the platform takes for granted. */
function comparable({ name, minReplicaCount, maxReplicaCount, policy, replicaConfiguration }: Json): Json {
  return {
    name,
    minReplicas: minReplicaCount,
    maxReplicas: maxReplicaCount,
    policy: policy && comparablePolicy(asJson(policy)),
    replica: replicaConfiguration && comparableReplica(asJson(replicaConfiguration)),
  };
}

function comparablePolicy({ range, scaleInAction, scaleOutAction, ...rest }: Json): Json {
  const action = (given: unknown) => {
    const { cooldownPeriod, ...fields } = asJson(given);
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
    nics: asList(nics).map((nic) => ({
      dhcp: true,
      firewallActive: false,
      ...known(nic),
      targetGroup: nic.targetGroup ?? null,
      // What spec does not list is left alone; an empty list is a wish.
      firewallRules: nic.firewallRules && asList(nic.firewallRules).map(comparableMember),
      flowLogs: nic.flowLogs,
    })),
    volumes: asList(volumes).map((volume) => ({
      bootOrder: "AUTO",
      bus: "VIRTIO",
      ...known(volume),
      type: String(volume.type).toUpperCase().replace(" ", "_").replace(/^SSD$/, "SSD_PREMIUM"),
      sshKeys: unseen(known(volume).sshKeys),
      userData: unseen(volume.userData),
    })),
  };
}

function comparableMember(rule: Json): Json {
  const read = wireRule.parse(rule);
  return { name: read.name, protocol: read.protocol, ...comparableRule(read) };
}

/** The body of a change, which carries all properties: those that spec does not know stay as they are. */
export function changedGroup(found: Json, wanted: Json): Json {
  const { location: _, targetReplicaCount: __, ...settable } = found;
  const replica = asJson(wanted.replicaConfiguration);
  const before = asJson(found.replicaConfiguration);
  return {
    ...merged(settable, wanted),
    datacenter: { id: asJson(found.datacenter).id },
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
      set.map(([name, value]) => [name, isJson(value) ? merged(asJson(found[name]), value) : value]),
    ),
  };
}

/** What stays as it is while spec does not say it. */
const leftAlone = ["firewallType", "firewallRules", "flowLogs"];

/** What spec can say about a member and does not say is not there; what it cannot say, or leaves alone, stays. */
function members(found: unknown, wanted: unknown, { shape }: z.ZodObject): unknown {
  if (!Array.isArray(wanted)) return found;
  return asList(wanted).map((each) => {
    const namesake = asList(found).find(({ name }) => name === each.name);
    const foreign = Object.entries(namesake ?? {}).filter(
      ([name]) => !(name in shape || `${name}SecretRef` in shape) || leftAlone.includes(name),
    );
    return merged(Object.fromEntries(foreign), each);
  });
}
