import { z } from "zod";
import { differences } from "./compare.ts";
import { isoDuration, secondsOf } from "./duration.ts";
import { datacenterReference, datacenterRules, managedRules, required } from "./fields.ts";
import { type Comparison, type Inputs, type Kind, mapping, type Reference } from "./kind.ts";
import { groupFacts, groupStatus, replicasOf } from "./scaling-group-facts.ts";
import { type ScalingGroupSpec, scalingGroupSpec } from "./scaling-group-spec.ts";

type Json = Readonly<Record<string, unknown>>;
type Nic = NonNullable<ScalingGroupSpec["replica"]>["nics"][number];

const collection = "/groups";
/** The platform takes no more at creation; more of them come by a change. */
const MOST_AT_CREATION = 100;

const json = z.record(z.string(), z.unknown());
const wire = z.looseObject({ id: z.string(), properties: json });
const part = (value: unknown): Json => json.catch({}).parse(value);
const parts = (value: unknown): Json[] => z.array(json).catch([]).parse(value);

const lanRole = ({ name }: Nic) => `replica.nics[${name}].lanRef`;

/** Spec in the platform's words. What spec does not say is left out. */
function properties(spec: ScalingGroupSpec, inputs: Inputs): Json {
  const { policy, replica } = spec;
  return {
    name: spec.name ?? (inputs.observed ? undefined : inputs.name),
    minReplicaCount: spec.minReplicas,
    maxReplicaCount: spec.maxReplicas,
    policy: policy && {
      ...policy,
      range: isoDuration(policy.range),
      scaleInAction: { ...policy.scaleInAction, cooldownPeriod: isoDuration(policy.scaleInAction.cooldownPeriod) },
      scaleOutAction: { ...policy.scaleOutAction, cooldownPeriod: isoDuration(policy.scaleOutAction.cooldownPeriod) },
    },
    replicaConfiguration: replica && {
      ...replica,
      nics: replica.nics.map(({ lanRef: _, ...nic }) => ({
        ...nic,
        lan: nic.lan ?? Number(inputs.refs[lanRole({ ...nic })]?.id),
      })),
    },
  };
}

/** One spelling for all: durations by their value, types of volumes as the platform writes them. */
function normalised(value: Json): Json {
  const action = (each: unknown) => {
    const { cooldownPeriod, ...rest } = part(each);
    return { ...rest, cooldownPeriod: isoDuration(String(cooldownPeriod ?? "PT5M")) };
  };
  const policy = part(value.policy);
  const replica = part(value.replicaConfiguration);
  return {
    ...value,
    policy: {
      ...policy,
      range: isoDuration(String(policy.range ?? "PT2M")),
      scaleInAction: { terminationPolicy: "OLDEST_SERVER_FIRST", ...action(policy.scaleInAction) },
      scaleOutAction: action(policy.scaleOutAction),
    },
    replicaConfiguration: {
      availabilityZone: "AUTO",
      ...replica,
      nics: parts(replica.nics).map((nic) => ({ dhcp: true, ...nic })),
      volumes: parts(replica.volumes).map((volume) => ({
        bootOrder: "AUTO",
        bus: "VIRTIO",
        ...volume,
        type: String(volume.type).replace(" ", "_").replace(/^SSD$/, "SSD_PREMIUM"),
      })),
    },
  };
}

/** Every value that spec sets, by its path, beside what the platform has there. Members of lists are paired by name. */
function pairs(wanted: unknown, found: unknown, path = ""): [string, readonly [unknown, unknown]][] {
  if (Array.isArray(wanted)) {
    const there = parts(found);
    const surplus = there.filter(({ name }) => !parts(wanted).some((each) => each.name === name));
    return [
      ...parts(wanted).flatMap((each) =>
        pairs(
          each,
          there.find(({ name }) => name === each.name),
          `${path}[${each.name}]`,
        ),
      ),
      ...surplus.map(({ name }) => [`${path}[${name}]`, ["", "present"]] as [string, readonly [unknown, unknown]]),
    ];
  }
  if (typeof wanted !== "object" || wanted === null) return [[path, [wanted, found]]];
  const inside = part(found);
  return Object.entries(wanted).flatMap(([name, value]) => {
    const field = path === "" ? (FIELDS[name] ?? name) : `${path}.${name}`;
    return value === undefined ? [] : pairs(value, inside[name], field);
  });
}

/** What the fields are called in spec. */
const FIELDS: Record<string, string> = {
  minReplicaCount: "minReplicas",
  maxReplicaCount: "maxReplicas",
  replicaConfiguration: "replica",
};

function compare(spec: ScalingGroupSpec, item: unknown, inputs: Inputs): Comparison {
  const { id, properties: found } = wire.parse(item);
  const wanted = properties(spec, inputs);
  // A list that shows a secret-like field as null says nothing about it.
  const drift = differences(Object.fromEntries(pairs(onlySet(normalised(wanted), wanted), normalised(found))));
  if (drift.length === 0 || inputs.observed) return { drift };
  const body = { properties: merged(settable(found), wanted) };
  const touched = drift.some(({ field }) => field.startsWith("replica"));
  const old = replicasOf(item).length;
  const note = `the change of replica touches new replicas only: ${old} of ${old} keep what they were made of`;
  return {
    drift,
    next: { action: "update", method: "PUT", path: `${collection}/${id}`, body, ...(touched && old > 0 && { note }) },
  };
}

/** Without the parts that spec does not have at all. */
function onlySet(value: Json, given: Json): Json {
  return Object.fromEntries(Object.entries(value).filter(([name]) => given[name] !== undefined));
}

/** A change carries all properties: those that spec does not set stay as they are. */
function settable({ location: _, targetReplicaCount: __, ...rest }: Json): Json {
  const { id } = part(rest.datacenter);
  return { ...rest, datacenter: { id } };
}

function merged(found: Json, wanted: Json): Json {
  const entries = Object.entries(wanted).flatMap(([name, value]): [string, unknown][] => {
    if (value === undefined) return [];
    const both = !Array.isArray(value) && typeof value === "object" && value !== null;
    return [[name, both ? merged(part(found[name]), part(value)) : value]];
  });
  return { ...found, ...Object.fromEntries(entries) };
}

const [SHORTEST, LONGEST] = [120, 86_400];

function problem({ policy }: ScalingGroupSpec): string | undefined {
  if (!policy) return undefined;
  if ((secondsOf(policy.range) ?? 0) < SHORTEST) return "policy.range must be at least 2 minutes";
  for (const field of ["scaleInAction", "scaleOutAction"] as const) {
    const seconds = secondsOf(policy[field].cooldownPeriod) ?? 0;
    if (seconds < SHORTEST || seconds > LONGEST) {
      return `policy.${field}.cooldownPeriod must be from 2 minutes to 24 hours`;
    }
  }
  return undefined;
}

const lans = ({ replica }: ScalingGroupSpec): Reference[] =>
  (replica?.nics ?? []).flatMap((nic) =>
    nic.lanRef
      ? [{ role: lanRole(nic), kind: "Lan", field: lanRole(nic), target: nic.lanRef, bond: "use" as const }]
      : [],
  );

export const scalingGroup: Kind = {
  kind: "ScalingGroup",
  plural: "scalinggroups",
  shortNames: ["sg"],
  description: "A group of equal servers that grows and shrinks with a metric. Early access: not for production yet.",
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
    { name: "Replicas", type: "integer", path: ".status.replicas", description: "Replicas there are" },
    { name: "Min", type: "integer", path: ".spec.minReplicas", description: "Smallest number" },
    { name: "Max", type: "integer", path: ".spec.maxReplicas", description: "Largest number" },
    { name: "Next", type: "string", path: ".status.nextActionAt", description: "End of the cooldown", wide: true },
  ],
  resource: mapping(scalingGroupSpec, {
    product: "autoscaling",
    noun: "group",
    collection: () => collection,
    depth: 3,
    holdsData: true,
    livelyMs: 15_000,
    echo(resource) {
      const { name, datacenter, replicaConfiguration, policy } = part(part(resource).properties);
      const { cores, ram } = part(replicaConfiguration);
      return { name, datacenter: part(datacenter).id, cores, ram, metric: part(policy).metric };
    },
    references: (spec) => [datacenterReference(spec), ...lans(spec)],
    problem,
    advice: ({ maxReplicas = 0 }) =>
      maxReplicas > 100 ? [`maxReplicas ${maxReplicas}: about 100 replicas are the recommended most of a group`] : [],
    body(spec, inputs) {
      const all = properties(spec, inputs);
      const maxReplicaCount = Math.min(spec.maxReplicas ?? MOST_AT_CREATION, MOST_AT_CREATION);
      return { properties: { ...all, maxReplicaCount, datacenter: { id: inputs.parents.datacenter } } };
    },
    compare,
    facts: groupFacts,
  }),
};
