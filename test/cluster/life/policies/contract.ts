import { type ExpectStatic, expect } from "vitest";
import { z } from "zod";
import { KIND_NAMES } from "../../../../src/kinds/identity/admission.ts";
import { kinds } from "../../../../src/kinds/index.ts";
import { hasResource } from "../../../../src/kinds/kind.ts";
import { applyGround, type Ground } from "../../ground.ts";
import { type Subject, subjects } from "../../kinds-under-test.ts";
import { api, type Landscape, landscape } from "../../landscape.ts";
import { datacenter, kafkaCluster, volume } from "../../objects.ts";
import type { Found } from "../../steering.ts";
import type { Trial } from "../../trial.ts";

/** One promise for these kinds. */
export interface Promised {
  readonly title: string;
  readonly kept: readonly Subject[];
  keep(kind: Trial, expect: ExpectStatic, world: Landscape): Promise<void>;
  /** Runs once, before the first kind. */
  before(world: Landscape): Promise<unknown>;
}

export const promise = (
  title: string,
  keep: Promised["keep"],
  kept: readonly Subject[] = subjects,
  before: Promised["before"] = async () => {},
): Promised => ({ title, keep, kept, before });

export const all = { selector: {} };

const nics = ["found", "nobody", "watched", "kept", "paused", "fixed", "foreign", "shut"].map(
  (role) => `flowlog-${role}`,
);
/** The Accounts of central logging, and the region of each. */
const regions = {
  "centrallogging-found": "de-fra",
  "centrallogging-nobody": "es-vit",
  "centrallogging-watched": "gb-bhx",
  "centrallogging-kept": "gb-lhr",
  "centrallogging-paused": "fr-par",
  // With the ClusterAccount.
  "centrallogging-foreign": "de-txl",
  "centrallogging-shut": "de-txl",
};

// Kinds without a resource are not counted, so that a new one does not change the Account of another kind.
const managed = kinds.filter(hasResource);
const manifest = z.looseObject({ kind: z.string(), spec: z.looseObject({}).default({}) });
/** Kinds alternate: the objects of one kind use an Account of their namespace, those of the next the ClusterAccount. */
function withAccount(object: object, accountRef: object): object {
  const { spec, ...rest } = manifest.parse(object);
  const turn = managed.findIndex(({ kind }) => kind === rest.kind);
  if (turn < 0) return object;
  const isOdd = turn % 2 === 1;
  return { ...rest, spec: { accountRef: isOdd ? { name: "main" } : accountRef, ...spec } };
}

/** The reference to the ClusterAccount. */
export const sharedBy = ({ namespace: name }: Landscape) => ({ kind: "ClusterAccount", name });

/** Where the promises are kept: a landscape with a ClusterAccount for all namespaces, and the ground of every kind. */
export async function openContract(): Promise<{ world: Landscape; ground: Ground }> {
  const bare = await landscape({
    simulator: ["--speed", "60"],
    // The resync is so long that only events cause a reconcile.
    operator: ["--create-deadline", "3s", "--settle", "3s", "--retry", "1s", "--resync", "1h"],
    clusterAccount: { adoption: "Any", namespaces: all, kinds: [...KIND_NAMES] },
  });
  const { spec } = manifest.parse(await bare.get("account/main"));
  const account = ([name, slug]: [string, string]) => ({
    apiVersion: api,
    kind: "Account",
    metadata: { name },
    spec: { ...spec, region: slug.replace("-", "/") },
  });
  await bare.apply(...Object.entries(regions).flatMap((each) => (each[1] === "de-txl" ? [] : [account(each)])));
  const accountRef = sharedBy(bare);
  const chosen = (objects: object[]) => objects.map((object) => withAccount(object, accountRef));
  const world: Landscape = {
    ...bare,
    apply: (...objects) => bare.apply(...chosen(objects)),
    applyServerSide: (...objects) => bare.applyServerSide(...chosen(objects)),
  };
  const others = [datacenter("other"), volume("other-source"), kafkaCluster("other-stream")];
  await world.apply(...others.map((object) => ({ ...object, spec: { ...object.spec, accountRef } })));
  const ground = await applyGround(world, { accountRef, nics, regions });
  await world.untilReady("datacenter/other", "volume/other-source", "kafkacluster/other-stream");
  return { world, ground };
}

export const none = { spec: {}, shows: {} };
export const ready = '{.status.conditions[?(@.type=="Ready")].message}';
export const containing = (shows: object) => [expect.objectContaining({ properties: expect.objectContaining(shows) })];
/** The visible parts of resources that must not change. */
export const reads = (found: Found[]) => found.map(({ id, properties }) => ({ id, properties }));
