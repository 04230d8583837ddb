import { ALLOW_DATA_LOSS } from "../../src/engine/names.ts";
import { GROUP, VERSION } from "../../src/kinds/index.ts";
import type { Kind } from "../../src/kinds/kind.ts";

/** What a life needs to know of the platform it is lived on. */
export interface Ground {
  /** The address of the platform as the operator reaches it. */
  api: string;
}

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
  spec: object;
}

/** A change of spec that ends with Ready again. */
export interface Change {
  /** The name of the phase: `update`, `replace` … */
  title: string;
  spec: object;
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
}

export const SUBJECT = "subject";
/** The Secret with the platform's token; it is there before everything else. */
export const CREDENTIALS = "token";

export const manifest = (
  kind: string,
  name: string,
  spec: object,
  annotations: Record<string, string> = {},
): Manifest => ({
  apiVersion: `${GROUP}/${VERSION}`,
  kind,
  metadata: { name, annotations },
  spec,
});

const accountSpec = ({ api }: Ground) => ({ endpoints: { api }, credentialsSecretRef: { name: CREDENTIALS } });
const account = (ground: Ground) => manifest("Account", "main", accountSpec(ground));
const datacenter = manifest("Datacenter", "home", { location: "de/txl" });

function server(ground: Ground): Life {
  const spec = {
    datacenterRef: { name: "home" },
    cores: 2,
    ram: 2048,
    bootVolume: { size: 10, type: "SSD Standard", imageAlias: "ubuntu:latest" },
    nics: [{ name: "public", lan: 1 }],
  };
  const grown = { ...spec, cores: 4, ram: 4096, bootVolume: { ...spec.bootVolume, size: 20 } };
  const moved = { ...grown, availabilityZone: "ZONE_1", replacePolicy: "WhenNeeded" };
  return {
    prerequisites: [account(ground), datacenter],
    annotations: { [ALLOW_DATA_LOSS]: "true" },
    spec,
    changes: [
      { title: "update", spec: grown, shows: { cores: 4, ram: 4096 } },
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
    changes: [{ title: "update", spec: { ...accountSpec(ground), region: "de/txl" } }],
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
};

/** A kind together with what happens to it. */
export interface Subject {
  kind: Kind;
  life: (ground: Ground) => Life;
}

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
