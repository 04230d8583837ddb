import { image, inDatacenter } from "../../../surroundings.ts";

export const policy = {
  metric: "INSTANCE_CPU_UTILIZATION_AVERAGE",
  unit: "PERCENTAGE",
  scaleInThreshold: 30,
  scaleOutThreshold: 75,
};
export const root = { name: "root", size: 10, type: "SSD Standard" };
export const replica = {
  cores: 1,
  ram: 1024,
  nics: [{ name: "public", lan: 1 }],
  volumes: [{ ...root, ...image }],
};
export const spec = {
  ...inDatacenter,
  minReplicas: 1,
  maxReplicas: 2,
  policy: {
    ...policy,
    range: "2m",
    scaleInAction: { amount: 1, cooldownPeriod: "5m", deleteVolumes: true },
    scaleOutAction: { amount: 1, cooldownPeriod: "5m" },
  },
  replica,
};
export const base = { kind: "ScalingGroup", spec };
