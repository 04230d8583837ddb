import type { Drift } from "../../desired.ts";
import { fingerprint } from "../../fields/bounded.ts";
import { asJson, asList, type Json, known, nested } from "../../fields/compare.ts";
import { isoDuration } from "../../fields/duration.ts";
import { comparableRule, wireRule } from "../../fields/network/firewall.ts";
import { newNic, newPolicy, newVolume } from "./defaults.ts";

/**
 * The differences between the properties of a group and the desired ones. Properties that `wanted` leaves out are not
 * compared. Fields that it leaves out of members of lists have their defaults or, with `isKept`, are not compared either.
 */
export const groupDrift = (wanted: Json, found: Json, isKept: boolean): Drift[] => {
  const { replicaConfiguration } = found;
  const shown = { availabilityZone: "AUTO", ...known(asJson(replicaConfiguration)) };
  return nested(comparable(wanted, !isKept), comparable({ ...found, replicaConfiguration: shown }, true));
};

/** Properties in the form in which they are compared: with the names of spec and the platform's defaults. */
function comparable(
  { name, minReplicaCount, maxReplicaCount, policy, replicaConfiguration }: Json,
  isComplete: boolean,
): Json {
  return {
    name,
    minReplicas: minReplicaCount,
    maxReplicas: maxReplicaCount,
    policy: policy && comparablePolicy(asJson(policy), isComplete),
    replica: replicaConfiguration && comparableReplica(asJson(replicaConfiguration), isComplete),
  };
}

function comparablePolicy(policy: Json, isComplete: boolean): Json {
  const given = known(policy);
  const { range, scaleInAction, scaleOutAction, ...rest } = isComplete ? newPolicy(given) : given;
  const iso = (duration: unknown) => (duration == null ? undefined : isoDuration(String(duration)));
  const action = (fields: unknown) => {
    const { cooldownPeriod, ...others } = known(asJson(fields));
    return { ...others, cooldownPeriod: iso(cooldownPeriod) };
  };
  return { ...rest, range: iso(range), scaleInAction: action(scaleInAction), scaleOutAction: action(scaleOutAction) };
}

/** An empty list is not the same as none: it removes what is there. */
const comparableReplica = ({ nics, volumes, ...rest }: Json, isComplete: boolean): Json => ({
  ...known(rest),
  nics: nics && asList(nics).map((nic) => comparableNic(nic, isComplete)),
  volumes: volumes && asList(volumes).map((volume) => comparableVolume(volume, isComplete)),
});

const comparableNic = (nic: Json, isComplete: boolean): Json => ({
  ...(isComplete ? { targetGroup: null, ...newNic(known(nic)) } : known(nic)),
  // An absent list leaves the rules unchanged; an empty list removes them.
  firewallRules: nic.firewallRules && asList(nic.firewallRules).map(comparableFirewallRule),
  flowLogs: nic.flowLogs,
});

function comparableVolume(volume: Json, isComplete: boolean): Json {
  // First-boot data is long and confidential: status shows only a hash of it.
  const hashed = (name: string) => {
    if (volume[name] === undefined && !isComplete) return undefined;
    const value = known(volume)[name];
    return value === undefined ? null : fingerprint(JSON.stringify(value));
  };
  return {
    ...(isComplete ? newVolume(known(volume)) : known(volume)),
    type: String(volume.type).toUpperCase().replace(" ", "_").replace(/^SSD$/, "SSD_PREMIUM"),
    sshKeys: hashed("sshKeys"),
    userData: hashed("userData"),
  };
}

/** An unset field of a rule means "any" in every group: a rule is complete in spec. */
export function comparableFirewallRule(rule: Json): Json {
  const read = wireRule.parse(rule);
  return { name: read.name, protocol: read.protocol, ...comparableRule(read) };
}
