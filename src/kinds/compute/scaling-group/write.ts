import { asJson, asList, isJson, type Json, nested } from "../../fields/compare.ts";
import { comparableFirewallRule } from "./compare.ts";
import { completePolicy, newNic, newVolume, weighted } from "./defaults.ts";
import { replicaNic, replicaVolume } from "./spec.ts";

/**
 * The body of an update. It carries all properties, so properties that spec leaves out keep their values. In a group that
 * Mooring has created, members of lists are complete in spec; in others, what spec leaves out of them is kept as well.
 */
export function changedGroup(found: Json, wanted: Json, isKept: boolean): Json {
  const { location: _, targetReplicaCount: __, ...settable } = found;
  const wantedReplica = asJson(wanted.replicaConfiguration);
  const { volumes, ...foundReplica } = asJson(found.replicaConfiguration);
  const nics = membersOf(foundReplica.nics, wantedReplica.nics, isKept ? keptNic : completeNic);
  return {
    ...merged(settable, { ...wanted, policy: isKept ? wanted.policy : completePolicy(wanted) }),
    datacenter: { id: asJson(found.datacenter).id },
    replicaConfiguration: {
      ...merged(foundReplica, wantedReplica),
      nics,
      volumes: membersOf(
        Array.isArray(volumes) ? asList(volumes).map(withOneSource) : volumes,
        wantedReplica.volumes,
        isKept ? keptVolume : completeVolume,
      ),
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

/** The members of a list in spec, each made with its namesake on the platform. A list that spec leaves out is kept. */
function membersOf(found: unknown, wanted: unknown, make: (wanted: Json, namesake?: Json) => Json): unknown {
  if (!Array.isArray(wanted)) return found;
  return asList(wanted).map((each) =>
    make(
      each,
      asList(found).find(({ name }) => name === each.name),
    ),
  );
}

const keptNic = (wanted: Json, namesake?: Json): Json =>
  namesake ? weighted(merged(namesake, withFoundRules(wanted, namesake))) : newNic(wanted);

/** A volume has one source. With another one in spec, the old one goes. */
function keptVolume(wanted: Json, namesake?: Json): Json {
  if (!namesake) return newVolume(wanted);
  const { image: _, imageAlias: __, ...rest } = namesake;
  return merged(hasSource(wanted) ? rest : namesake, wanted);
}

const hasSource = ({ image, imageAlias }: Json) => image != null || imageAlias != null;

/** The platform may show the image behind an alias, but refuses both together. */
const withOneSource = ({ image, ...volume }: Json): Json =>
  image === undefined || (image !== null && volume.imageAlias != null) ? volume : { ...volume, image };

const completeNic = (wanted: Json, namesake: Json = {}): Json =>
  merged(beyondSpec(namesake, replicaNic.shape), newNic(withFoundRules(wanted, namesake)));

const completeVolume = (wanted: Json, namesake: Json = {}): Json =>
  merged(beyondSpec(namesake, replicaVolume.shape), newVolume(wanted));

/** Fields that stay unchanged in every group while spec leaves them out. */
const leftAlone = ["firewallType", "firewallRules", "flowLogs"];

/** Of a member that is complete in spec, only fields that spec does not have stay, and those in `leftAlone`. */
function beyondSpec(found: Json, shape: object): Json {
  // Spec has some fields of the platform only as the name of a Secret: imagePassword as imagePasswordSecretRef.
  const isInSpec = (name: string) => name in shape || `${name}SecretRef` in shape;
  return Object.fromEntries(Object.entries(found).filter(([name]) => !isInSpec(name) || leftAlone.includes(name)));
}

/** A rule that does not differ is sent as it is: without the IP version in it, the platform would choose one again. */
function withFoundRules(nic: Json, namesake: Json): Json {
  if (!Array.isArray(nic.firewallRules)) return nic;
  const firewallRules = asList(nic.firewallRules).map((rule) => {
    const isSame = (each: Json) => nested(comparableFirewallRule(rule), comparableFirewallRule(each)).length === 0;
    return asList(namesake.firewallRules).find((each) => each.name === rule.name && isSame(each)) ?? rule;
  });
  return { ...nic, firewallRules };
}
