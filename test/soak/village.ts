import { KubeError } from "../../src/kube/errors.ts";
import { oneOf } from "./chance.ts";
import { worthTheWork } from "./person.ts";
import { at, wantedAt } from "./population.ts";
import type { Resident, Tenant } from "./tenants.ts";
import type { Wanted } from "./verdict.ts";

/** What was done to the objects. */
export interface Done {
  created: number;
  edited: number;
  deleted: number;
}

/** All residents, and who of them is there, or ought to be, at which stage of life. */
export interface Village {
  readonly done: Done;
  /** Does to somebody what comes next: creates, changes or deletes. */
  meddle(): Promise<void>;
  remove(resident: Resident): Promise<void>;
  /** Who is there, free, and of a kind that people work on. */
  settledOf(tenant: Tenant): Resident[];
  /** Nobody meddles with the resident until the work is done. */
  whileHeld(resident: Resident, work: () => Promise<void>): Promise<void>;
  /** Applies everybody once more, when what stood in the way is gone. */
  insist(): Promise<void>;
  wantedOf(tenant: Tenant): Wanted[];
}

export function createVillage(residents: readonly Resident[], random: () => number): Village {
  const done: Done = { created: 0, edited: 0, deleted: 0 };
  const ages = new Map<Resident, number>();
  const held = new Set<Resident>();

  const become = async (resident: Resident, age: number) => {
    await resident.tenant.stage.apply(at(resident, age));
    ages.set(resident, age);
  };

  const remove = async (resident: Resident) => {
    await resident.tenant.stage.remove(resident.kind, resident.name);
    ages.delete(resident);
    done.deleted += 1;
  };

  return {
    done,
    remove,
    async meddle() {
      const resident = oneOf(random, residents);
      if (!resident || held.has(resident)) return;
      const age = ages.get(resident);
      if (age === undefined) {
        // One that is still on its way out keeps its name.
        if (await resident.tenant.stage.read(resident.kind, resident.name)) return;
        await become(resident, 0);
        done.created += 1;
      } else if (age + 1 < resident.stages.length && random() < 0.6) {
        await become(resident, age + 1);
        done.edited += 1;
      } else if (random() < 0.5) {
        await remove(resident);
      }
    },
    settledOf: (tenant) =>
      residents.filter((each) => each.tenant === tenant && worthTheWork(each) && ages.has(each) && !held.has(each)),
    async whileHeld(resident, work) {
      held.add(resident);
      try {
        await work();
      } finally {
        held.delete(resident);
      }
    },
    async insist() {
      for (const [resident, age] of ages) {
        try {
          await become(resident, age);
        } catch (error) {
          if (!(error instanceof KubeError)) throw error;
        }
      }
    },
    wantedOf: (tenant) => [
      ...tenant.prerequisites.map(({ kind, metadata }) => ({ kind, name: metadata.name })),
      ...residents.flatMap((each) =>
        each.tenant === tenant && ages.has(each) ? [wantedAt(each, ages.get(each) ?? 0)] : [],
      ),
    ],
  };
}
