import { asJson, asList, isJson, type Json, known } from "../../fields/compare.ts";

/**
 * Defaults are added here and not by the schema: in a group that Mooring did not create, fields that spec leaves out stay
 * unchanged.
 */
export const completePolicy = ({ policy }: Json): Json | undefined => (isJson(policy) ? newPolicy(policy) : undefined);

export const newPolicy = ({ scaleInAction, scaleOutAction, ...policy }: Json): Json => ({
  ...policy,
  range: policy.range ?? "PT2M",
  scaleInAction: newAction({
    terminationPolicy: "OLDEST_SERVER_FIRST",
    deleteVolumes: false,
    ...known(asJson(scaleInAction)),
  }),
  scaleOutAction: newAction(known(asJson(scaleOutAction))),
});

const newAction = (action: Json): Json => ({ amountType: "ABSOLUTE", cooldownPeriod: "PT5M", ...action });

export const newReplica = (replica: Json): Json => ({
  ...replica,
  availabilityZone: replica.availabilityZone ?? "AUTO",
  nics: replica.nics && asList(replica.nics).map(newNic),
  volumes: replica.volumes && asList(replica.volumes).map(newVolume),
});

export const newNic = (nic: Json): Json =>
  weighted({ ...nic, dhcp: nic.dhcp ?? true, firewallActive: nic.firewallActive ?? false });

export const newVolume = (volume: Json): Json => ({
  ...volume,
  bootOrder: volume.bootOrder ?? "AUTO",
  bus: volume.bus ?? "VIRTIO",
});

/** A target group needs a weight. */
export function weighted(nic: Json): Json {
  if (nic.targetGroup == null) return nic;
  const { weight = 1, ...target } = known(asJson(nic.targetGroup));
  return { ...nic, targetGroup: { ...target, weight } };
}
