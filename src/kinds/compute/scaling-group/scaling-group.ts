import { z } from "zod";
import type { Comparison, Inputs, Operation } from "../../desired.ts";
import { asJson, differences, fieldsOf, type Json, stepOf, wantedName } from "../../fields/compare.ts";
import { isoDuration } from "../../fields/duration.ts";
import { datacenterReference, datacenterRules, managedRules, required, wireId } from "../../fields/fields.ts";
import { output } from "../../fields/secrets/output.ts";
import { type Kind, mapping, type OutputSource } from "../../kind.ts";
import { addressesByNic, allAddresses } from "../server/output.ts";
import { groupDrift } from "./compare.ts";
import { completePolicy, newReplica } from "./defaults.ts";
import { cooldownEnds, groupFacts, groupStatus, nicsOfReplica, replicasOf, serverIdsOf } from "./facts.ts";
import {
  imagesKept,
  isInSecret,
  outdatedDrift,
  replicaAdvice,
  replicaConfiguration,
  replicaLookups,
  replicaMentions,
  replicaProblem,
  replicaReferences,
  replicaSecrets,
} from "./replica.ts";
import { type ScalingGroupSpec, scalingGroupSpec } from "./spec.ts";
import { changedGroup } from "./write.ts";

const collection = "/groups";
/** The platform creates a group with at most this many replicas; a later update may add more. */
const MOST_AT_CREATION = 100;

const wire = z.looseObject({ id: wireId(), properties: z.record(z.string(), z.unknown()) });

/** The body that the platform expects. Fields that are unset in spec are omitted. */
function properties(spec: ScalingGroupSpec, inputs: Inputs): Json {
  const { policy } = spec;
  const iso = <A extends { cooldownPeriod?: string | undefined }>(action: A) => ({
    ...action,
    cooldownPeriod: action.cooldownPeriod && isoDuration(action.cooldownPeriod),
  });
  return {
    name: wantedName(spec, inputs),
    minReplicaCount: spec.minReplicas,
    maxReplicaCount: spec.maxReplicas,
    policy: policy && {
      ...policy,
      range: policy.range && isoDuration(policy.range),
      scaleInAction: iso(policy.scaleInAction),
      scaleOutAction: iso(policy.scaleOutAction),
    },
    replicaConfiguration: replicaConfiguration(spec, inputs),
  };
}

function body(spec: ScalingGroupSpec, inputs: Inputs): unknown {
  const { minReplicas = 1, maxReplicas = minReplicas } = spec;
  const wanted = properties(spec, inputs);
  const { replicaConfiguration: replica } = wanted;
  return {
    properties: {
      ...wanted,
      policy: completePolicy(wanted),
      replicaConfiguration: replica && newReplica(asJson(replica)),
      minReplicaCount: Math.min(minReplicas, MOST_AT_CREATION),
      maxReplicaCount: Math.min(maxReplicas, MOST_AT_CREATION),
      datacenter: { id: inputs.parents.datacenter },
    },
  };
}

function compare(spec: ScalingGroupSpec, item: unknown, inputs: Inputs): Comparison {
  const { id, properties: found } = wire.parse(item);
  const wanted = properties(spec, inputs);
  const isKept = inputs.adopted === true || inputs.observed === true;
  const changeable = [
    ...groupDrift(wanted, found, isKept).filter(({ field }) => !isInSecret(spec, field)),
    ...outdatedDrift(spec, inputs),
  ];
  // All groups are in one collection, so an adopted group may be in another datacenter than spec names.
  const fixed = differences({ datacenterRef: [inputs.parents.datacenter, asJson(found.datacenter).id] });
  const drift = [...fixed, ...changeable];
  if (changeable.length === 0 || inputs.observed) return { drift };
  const existing = replicasOf(item).length;
  const keepsOldTemplate = existing > 0 && changeable.some(({ field }) => field.startsWith("replica."));
  const note = `the change of replica applies to new replicas only; ${existing} existing ones keep the old template`;
  const write: Operation = {
    action: "update",
    method: "PUT",
    path: `${collection}/${id}`,
    resolve: (complete) => {
      const images = { ...complete.found, ...imagesKept(spec, found, inputs) };
      return { properties: changedGroup(found, properties(spec, { ...complete, found: images }), isKept) };
    },
    ...(keepsOldTemplate && { note }),
  };
  return stepOf(write, fieldsOf(changeable), drift);
}

const rates = ["PER_HOUR", "PER_MINUTE", "PER_SECOND"];

/** Settings that the platform accepts but that probably do not do what the user expects. */
function policyAdvice({ policy }: ScalingGroupSpec): string[] {
  if (!policy) return [];
  const { metric, unit, scaleInThreshold, scaleOutThreshold } = policy;
  const cpu = metric === "INSTANCE_CPU_UTILIZATION_AVERAGE";
  if (cpu && rates.includes(unit)) {
    return [`policy.unit ${unit}: ${metric} is a percentage, not a rate; use PERCENTAGE`];
  }
  if (!cpu && unit === "PERCENTAGE") {
    return [`policy.unit ${unit}: ${metric} is a number, not a percentage; use TOTAL, ${rates.join(", ")}`];
  }
  if (unit !== "PERCENTAGE") return [];
  return [
    ...(scaleOutThreshold < 100 ? [] : ["policy.scaleOutThreshold: no CPU is above 100 percent; nothing is added"]),
    ...(scaleInThreshold > 0 ? [] : ["policy.scaleInThreshold: no CPU is below 0 percent; nothing is removed"]),
  ];
}

/** The group lists the servers of its replicas only by id; the addresses come from the servers themselves. */
const groupOutput: OutputSource["values"] = (item, { id, parents }, known) => {
  const servers = serverIdsOf(item);
  const nics = servers.map((server) => nicsOfReplica(server, known));
  return {
    ID: id,
    DATACENTER_ID: parents.datacenter,
    REPLICAS: replicasOf(item).length,
    SERVER_IDS: servers,
    IPS: nics.flatMap(allAddresses),
    ...addressesByNic(nics.flat()),
  };
};

export const scalingGroup: Kind = {
  kind: "ScalingGroup",
  plural: "scalinggroups",
  shortNames: ["sg"],
  description: "A group of identical servers that scales with a metric. Early access: not for production.",
  spec: scalingGroupSpec,
  status: groupStatus,
  rules: [
    ...managedRules,
    ...datacenterRules,
    ...["minReplicas", "maxReplicas", "policy", "replica"].map(required),
    {
      rule: "!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",
      message: "maxReplicas must not be less than minReplicas",
    },
  ],
  immutable: {
    datacenterRef: "a group cannot move to another datacenter",
    datacenterId: "a group cannot move to another datacenter",
  },
  columns: [
    { name: "Replicas", type: "integer", path: ".status.replicas", description: "Number of replicas" },
    { name: "Min", type: "integer", path: ".status.minReplicas", description: "Minimum number of replicas" },
    { name: "Max", type: "integer", path: ".status.maxReplicas", description: "Maximum number of replicas" },
    { name: "Next", type: "string", path: ".status.nextActionAt", description: "End of the cooldown", wide: true },
  ],
  // The group chooses the number of replicas; a user sets the minimum.
  scale: { spec: "minReplicas", status: "replicas" },
  resource: mapping(scalingGroupSpec, {
    names: {
      type: "autoscaling-group",
      fields: {
        minReplicaCount: "minReplicas",
        maxReplicaCount: "maxReplicas",
        replicaConfiguration: "replica",
        "datacenter.id": "datacenterRef",
      },
    },
    identity: {
      echo(resource) {
        const { name, datacenter, replicaConfiguration, policy } = asJson(asJson(resource).properties);
        const { cores, ram } = asJson(replicaConfiguration);
        return { name, datacenter: asJson(datacenter).id, cores, ram, metric: asJson(policy).metric };
      },
    },
    place: {
      product: "autoscaling",
      collection: () => collection,
      depth: 3,
      livelyMs: 15_000,
      references: (spec) => [datacenterReference(spec), ...replicaReferences(spec)],
      mentions: replicaMentions,
    },
    creation: {
      secrets: replicaSecrets,
      lookups: replicaLookups,
      problem: replicaProblem,
      advice: ({ maxReplicas = 0, ...spec }, inputs) => [
        "auto scaling is an early access service of the platform: use it for non-production workloads only",
        ...(maxReplicas > 100 ? [`maxReplicas ${maxReplicas}: more than 100 replicas is not recommended`] : []),
        ...policyAdvice(spec),
        ...replicaAdvice(spec, inputs),
      ],
      body,
    },
    comparison: { compare, facts: groupFacts, changesAt: cooldownEnds },
    destruction: { holdsData: true },
    output: output(groupOutput, { kind: "Server", ids: serverIdsOf }),
  }),
};
