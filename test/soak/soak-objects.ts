import { KubeError } from "../../src/kube/client/errors.ts";
import { oneOf } from "./chance.ts";
import { worthTheWork } from "./disturbances/person.ts";
import { at, wantedAt } from "./population.ts";
import type { SoakObject, Tenant } from "./tenants.ts";
import type { Wanted } from "./verdict.ts";

/** Number of actions on the objects. */
export interface Done {
  created: number;
  edited: number;
  deleted: number;
}

/** Added to a manifest, so that an existing resource is adopted. */
export interface Adoption {
  spec: { externalId?: string };
  annotations: Record<string, string>;
}

/** All objects, with their expected existence and stage of life. */
export interface SoakObjects {
  readonly done: Done;
  readonly count: number;
  /** Creates everybody. */
  createAll(): Promise<void>;
  /** Does the next step of a random object: create, change or delete. */
  step(): Promise<void>;
  remove(soaked: SoakObject): Promise<void>;
  /** Existing objects that are not in use, of kinds with manual changes. */
  settledOf(tenant: Tenant): SoakObject[];
  /** No other step touches the object during the work. */
  whileHeld(soaked: SoakObject, work: () => Promise<void>): Promise<void>;
  /** Applies all objects again. */
  applyAll(): Promise<void>;
  /** Creates the objects that are not there, with what is to be adopted, and applies again what was refused. */
  createMissing(isThere: (soaked: SoakObject) => boolean, adoptionOf: (soaked: SoakObject) => Adoption): Promise<void>;
  wantedOf(tenant: Tenant): Wanted[];
}

export function createSoakObjects(candidates: readonly SoakObject[], random: () => number): SoakObjects {
  const done: Done = { created: 0, edited: 0, deleted: 0 };
  const ages = new Map<SoakObject, number>();
  const held = new Set<SoakObject>();

  const adopted = new Map<SoakObject, Adoption>();
  /** A field may be immutable until the object knows that its resource of the backup is gone. */
  const refused = new Set<SoakObject>();

  const become = async (soaked: SoakObject, age: number) => {
    const { spec, metadata, ...object } = at(soaked, age);
    const { spec: more, annotations } = adopted.get(soaked) ?? { spec: {}, annotations: {} };
    await soaked.tenant.stage.apply({
      ...object,
      metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
      spec: { ...spec, ...more },
    });
    ages.set(soaked, age);
  };

  const tryToBecome = async (soaked: SoakObject, age: number) => {
    try {
      await become(soaked, age);
      refused.delete(soaked);
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      refused.add(soaked);
    }
  };

  const remove = async (soaked: SoakObject) => {
    await soaked.tenant.stage.remove(soaked.kind, soaked.name);
    ages.delete(soaked);
    adopted.delete(soaked);
    done.deleted += 1;
  };

  return {
    done,
    count: candidates.length,
    remove,
    async createAll() {
      for (const soaked of candidates) await become(soaked, 0);
      done.created += candidates.length;
    },
    async step() {
      const soaked = oneOf(random, candidates);
      if (!soaked || held.has(soaked)) return;
      const age = ages.get(soaked);
      if (age === undefined) {
        // An object that is still being deleted keeps its name.
        if (await soaked.tenant.stage.read(soaked.kind, soaked.name)) return;
        await become(soaked, 0);
        done.created += 1;
      } else if (age + 1 < soaked.stages.length && random() < 0.6) {
        await become(soaked, age + 1);
        done.edited += 1;
      } else if (random() < 0.5) {
        await remove(soaked);
      }
    },
    settledOf: (tenant) =>
      candidates.filter((each) => each.tenant === tenant && worthTheWork(each) && ages.has(each) && !held.has(each)),
    async whileHeld(soaked, work) {
      held.add(soaked);
      try {
        await work();
      } finally {
        held.delete(soaked);
      }
    },
    async applyAll() {
      for (const [soaked, age] of ages) await tryToBecome(soaked, age);
    },
    async createMissing(isThere, adoptionOf) {
      for (const [soaked, age] of ages) {
        if (!isThere(soaked)) adopted.set(soaked, adoptionOf(soaked));
        else if (!refused.has(soaked)) continue;
        await tryToBecome(soaked, age);
      }
    },
    wantedOf: (tenant) => [
      ...tenant.prerequisites.map(({ kind, metadata }) => ({ kind, name: metadata.name })),
      ...candidates.flatMap((each) =>
        each.tenant === tenant && ages.has(each) ? [wantedAt(each, ages.get(each) ?? 0)] : [],
      ),
    ],
  };
}
