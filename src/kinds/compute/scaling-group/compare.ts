import type { z } from "zod";
import type { Drift } from "../../desired.ts";
import { fingerprint } from "../../fields/bounded.ts";
import { asJson, asList, isJson, type Json, known, nested } from "../../fields/compare.ts";
import { isoDuration } from "../../fields/duration.ts";
import { comparableRule, wireRule } from "../../fields/network/firewall.ts";
import { replicaNic, replicaVolume } from "./spec.ts";

/**
 * The differences between the properties of a group and the desired ones. Properties that `wanted` leaves out are not
 * compared.
 */
export const groupDrift = (wanted: Json, found: Json): Drift[] => nested(comparable(wanted), comparable(found));

/** Properties in the form in which they are compared: with the names of spec and the platform's defaults. */
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
  // First-boot data is long and confidential: status shows only a hash of it.
  const hashed = (value: unknown) => (value == null ? null : fingerprint(JSON.stringify(value)));
  return {
    availabilityZone: "AUTO",
    ...known(rest),
    nics: asList(nics).map((nic) => ({
      dhcp: true,
      firewallActive: false,
      ...known(nic),
      targetGroup: nic.targetGroup ?? null,
      // An absent list leaves the rules unchanged; an empty list removes them.
      firewallRules: nic.firewallRules && asList(nic.firewallRules).map(comparableFirewallRule),
      flowLogs: nic.flowLogs,
    })),
    volumes: asList(volumes).map((volume) => ({
      bootOrder: "AUTO",
      bus: "VIRTIO",
      ...known(volume),
      type: String(volume.type).toUpperCase().replace(" ", "_").replace(/^SSD$/, "SSD_PREMIUM"),
      sshKeys: hashed(known(volume).sshKeys),
      userData: hashed(volume.userData),
    })),
  };
}

function comparableFirewallRule(rule: Json): Json {
  const read = wireRule.parse(rule);
  return { name: read.name, protocol: read.protocol, ...comparableRule(read) };
}

/** The body of an update. It carries all properties, so properties that spec does not have keep their values. */
export function changedGroup(found: Json, wanted: Json): Json {
  const { location: _, targetReplicaCount: __, ...settable } = found;
  const wantedReplica = asJson(wanted.replicaConfiguration);
  const foundReplica = asJson(found.replicaConfiguration);
  return {
    ...merged(settable, wanted),
    datacenter: { id: asJson(found.datacenter).id },
    replicaConfiguration: {
      ...merged(foundReplica, wantedReplica),
      nics: members(foundReplica.nics, wantedReplica.nics, replicaNic),
      volumes: members(foundReplica.volumes, wantedReplica.volumes, replicaVolume),
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

/** Fields that stay unchanged while spec leaves them out. */
const leftAlone = ["firewallType", "firewallRules", "flowLogs"];

/**
 * Members of a list for the body of an update. A field of spec that is unset is removed. Fields that spec does not
 * have, and those in `leftAlone`, keep their values.
 */
function members(found: unknown, wanted: unknown, { shape }: z.ZodObject): unknown {
  if (!Array.isArray(wanted)) return found;
  // Spec has some fields of the platform only as the name of a Secret: imagePassword as imagePasswordSecretRef.
  const isInSpec = (name: string) => name in shape || `${name}SecretRef` in shape;
  return asList(wanted).map((each) => {
    const namesake = asList(found).find(({ name }) => name === each.name);
    const kept = Object.entries(namesake ?? {}).filter(([name]) => !isInSpec(name) || leftAlone.includes(name));
    return merged(Object.fromEntries(kept), each);
  });
}
