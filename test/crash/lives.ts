import { ALLOW_DATA_LOSS } from "../../src/engine/objects/names.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { kafkaCluster, kafkaTopic, kafkaUser } from "./kafka-lives.ts";
import { account, accountSpec, datacenter, type Ground, type Manifest } from "./manifests.ts";
import { flowLog, ipBlock, lan } from "./network-lives.ts";
import { centralLogging, logPipeline, metricPipeline } from "./pipeline-lives.ts";
import { scalingGroup } from "./scaling-life.ts";
import type { PromisedSecret } from "./secrets.ts";
import { snapshot, volume } from "./storage-lives.ts";

/** A change of spec or annotations that ends with Ready again. */
export interface Change {
  /** The name of the phase: `update`, `replace` … */
  title: string;
  spec: object;
  /** In addition to those of the whole life. */
  annotations?: Record<string, string>;
  /** What the kind's part of status has to say before it is over. */
  says?: Record<string, unknown>;
  /** So much later, by the platform's clock. */
  afterSeconds?: number;
  /** The key or certificate in the Secret has to be another one before it is over. */
  renewsKey?: true;
  /** Properties of the resource that only the platform can vouch for, once the object says Ready. */
  shows?: Record<string, unknown>;
}

/** What one object of a kind goes through: created, changed, deleted; Ready, or gone, after each. */
export interface Life {
  /** Made Ready before the life begins, in this order. */
  prerequisites: Manifest[];
  annotations?: Record<string, string>;
  spec: object;
  changes: Change[];
  /** The Secrets that the object, as it stands, must have published whenever it is Ready. */
  secrets?: (object: KubeObject) => PromisedSecret[];
  /** What a resource that cannot be deleted shows once the object is gone: the same as before it came. */
  restores?: Record<string, unknown>;
}

function server(ground: Ground): Life {
  const spec = {
    datacenterRef: { name: "home" },
    cores: 2,
    ram: 2048,
    bootVolume: { size: 10, type: "SSD Standard", imageAlias: "ubuntu:latest" },
    nics: [{ name: "public", lan: 1 }],
  };
  const grown = { ...spec, cores: 4, ram: 4096, bootVolume: { ...spec.bootVolume, size: 20 } };
  const connected = { ...grown, nics: [...spec.nics, { name: "private", lan: 2 }] };
  const moved = { ...grown, availabilityZone: "ZONE_1", replacePolicy: "WhenNeeded" };
  return {
    prerequisites: [account(ground), datacenter],
    annotations: { [ALLOW_DATA_LOSS]: "true" },
    spec,
    changes: [
      { title: "update", spec: grown, shows: { cores: 4, ram: 4096 } },
      { title: "connect", spec: connected },
      { title: "disconnect", spec: grown },
      { title: "replace", spec: moved, shows: { availabilityZone: "ZONE_1" } },
      { title: "stop", spec: { ...moved, powerState: "Stopped" }, shows: { vmState: "SHUTOFF" } },
    ],
  };
}

/** One life per kind. A kind with a resource on the platform needs one here; nothing else has to be done for it. */
const lives: Record<string, (ground: Ground) => Life> = {
  Account: (ground) => ({
    prerequisites: [],
    spec: accountSpec(ground),
    changes: [{ title: "update", spec: { ...accountSpec(ground), region: "de/fra" } }],
  }),
  Datacenter: (ground) => ({
    prerequisites: [account(ground)],
    spec: { location: "de/txl", description: "first" },
    changes: [
      {
        title: "update",
        spec: { location: "de/txl", description: "second" },
        shows: { description: "second" },
      },
      {
        title: "replace",
        spec: { location: "de/fra", description: "second", replacePolicy: "WhenNeeded" },
        shows: { location: "de/fra" },
      },
    ],
  }),
  Server: server,
  Lan: lan,
  IPBlock: ipBlock,
  Volume: volume,
  Snapshot: snapshot,
  FlowLog: flowLog,
  ScalingGroup: scalingGroup,
  MetricPipeline: metricPipeline,
  LogPipeline: logPipeline,
  CentralLogging: centralLogging,
  KafkaCluster: kafkaCluster,
  KafkaTopic: kafkaTopic,
  KafkaUser: kafkaUser,
};

/** A kind together with what happens to it. */
export interface Subject {
  kind: Kind;
  life: (ground: Ground) => Life;
  /** It is killed nowhere but at its creation. */
  creationOnly?: true;
}

/** Created and deleted again, and killed nowhere but at its creation. */
export const atCreation = ({ kind, life }: Subject): Subject => ({
  kind,
  life: (ground) => ({ ...life(ground), changes: [] }),
  creationOnly: true,
});

/** The lives of these kinds. Throws when a kind with a resource on the platform has none. */
export function subjectsOf(kinds: readonly Kind[]): Subject[] {
  const without = kinds.filter(({ kind, resource }) => resource && !lives[kind]).map(({ kind }) => kind);
  if (without.length > 0) {
    throw new Error(
      `no life in test/crash/lives.ts for ${without.join(", ")}: describe one, so that it is killed, too`,
    );
  }
  return kinds.flatMap((kind) => {
    const life = lives[kind.kind];
    return life ? [{ kind, life }] : [];
  });
}

/** The kinds that `--kind` names; all of them when it names none. */
export function chosenKinds(kinds: readonly Kind[], names: readonly string[] | undefined): readonly Kind[] {
  const unknown = names?.find((name) => !kinds.some(({ kind }) => kind === name));
  if (unknown !== undefined) throw new Error(`--kind: "${unknown}" is none of ${kinds.map(({ kind }) => kind)}`);
  return kinds.filter(({ kind }) => names?.includes(kind) ?? true);
}
