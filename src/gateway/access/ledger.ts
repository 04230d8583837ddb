import { createHash } from "node:crypto";
import {
  entryOf,
  isOfAccess,
  readSpent,
  SPENDING_LABEL,
  SPENDING_NAMES,
  textOf,
} from "../../kinds/inference/spending.ts";
import { isConflict } from "../../kube/client/errors.ts";
import type { KubeClient } from "../../kube/client/transport.ts";
import { CONFIG_MAPS, pathOf } from "../../kube/resource.ts";
import { fetchObject } from "../../kube/watch/followed.ts";

/** The amount taken from a budget, and the amount that was left before. */
export interface Taken {
  eur: number;
  left: number;
}

/** The amounts taken from budgets. All replicas share it, and it survives a restart. */
export interface Ledger {
  /** Takes `most` of the rest of the limit, or the whole rest, but nothing if the rest is less than `least`. */
  take(key: string, day: string, { least, most }: { least: number; most: number }, limit: number): Promise<Taken>;
  /**
   * Returns an unspent amount. A negative amount adds the cost of calls beyond the reservation, even above the limit.
   */
  giveBack(key: string, day: string, eur: number): Promise<void>;
}

const share = (left: number, { least, most }: { least: number; most: number }): number =>
  left < least ? 0 : Math.max(0, Math.min(most, left));

/** Another replica has begun the next day, so amounts of this day do not matter any more. */
class DayOver extends Error {}

/**
 * Maximum records of a namespace in one ConfigMap. Each access that was used today has one, even if it was deleted
 * since. Without this limit, one namespace could take the space of others.
 */
export const MOST_RECORDS = 100;

/** A namespace has used more accesses today than there are records. */
export class TooManyRecords extends Error {}

/** A ledger in the memory of this process. It keeps only the current day. */
export function createMemoryLedger(): Ledger {
  const totals = new Map<string, number>();
  let today = "";
  return {
    async take(key, day, wanted, limit) {
      if (day > today) totals.clear();
      today = day > today ? day : today;
      const total = totals.get(`${day} ${key}`) ?? 0;
      const eur = share(limit - total, wanted);
      totals.set(`${day} ${key}`, total + eur);
      return { eur, left: limit - total };
    },
    async giveBack(key, day, eur) {
      const total = totals.get(`${day} ${key}`);
      if (total !== undefined) totals.set(`${day} ${key}`, Math.max(0, total - eur));
    },
  };
}

const ATTEMPTS = 20;

/**
 * A ledger in ConfigMaps of the gateway's namespace, where tenants cannot write. Every write checks the
 * resourceVersion, so two replicas never take the same amount. It keeps only the current day.
 */
export function createConfigMapLedger(client: Pick<KubeClient, "request">, namespace: string): Ledger {
  /** The pending writes by ConfigMap. This process writes each ConfigMap one write at a time. */
  const pending = new Map<string, Promise<unknown>>();

  function oneAtATime<T>(name: string, work: () => Promise<T>): Promise<T> {
    const next = (pending.get(name) ?? Promise.resolve()).then(work, work);
    const ended = next.catch(() => {});
    pending.set(name, ended);
    return next;
  }

  /** Changes the total of an access. Returns the total before. */
  async function change(key: string, day: string, edit: (total: number) => number): Promise<number> {
    const name = shardOf(key);
    const [owner = "", access = ""] = key.split("/");
    const entry = entryOf(owner, access);
    for (let nth = 1; ; nth += 1) {
      const found = await fetchObject(client, CONFIG_MAPS, { namespace, name });
      // Drops entries of former days: an entry begins with its day. Entries of the next day stay: a replica whose clock
      // is ahead of this one may have written them.
      const kept = Object.entries(Object(found?.data)).filter(([, text]) => String(text) >= day);
      const data = Object.fromEntries(kept);
      const spent = readSpent(data[entry]);
      if (spent && spent.day > day) throw new DayOver("another replica has begun the next day");
      const total = spent?.eur ?? 0;
      const next = edit(total);
      if (next === total) return total;
      if (!spent && isOfAccess(entry) && isFull(Object.keys(data), owner))
        throw new TooManyRecords(`no record is left for namespace ${owner}`);
      const { resourceVersion } = found?.metadata ?? {};
      const body = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, namespace, labels: SPENDING_LABEL, resourceVersion },
        data: { ...data, [entry]: textOf({ day, eur: next }) },
      };
      try {
        await client.request({
          method: found ? "PUT" : "POST",
          path: pathOf(CONFIG_MAPS, { namespace, ...(found && { name }) }),
          body,
        });
        return total;
      } catch (error) {
        if (!isConflict(error) || nth === ATTEMPTS) throw error;
      }
    }
  }

  return {
    take: (key, day, wanted, limit) =>
      oneAtATime(shardOf(key), async () => {
        const total = await change(key, day, (has) => has + share(limit - has, wanted));
        return { eur: share(limit - total, wanted), left: limit - total };
      }),
    async giveBack(key, day, eur) {
      const changed = oneAtATime(shardOf(key), () => change(key, day, (total) => Math.max(0, total - eur)));
      await changed.catch((error) => {
        // An amount of a former day need not be returned.
        if (!(error instanceof DayOver)) throw error;
      });
    },
  };
}

const isFull = (entries: readonly string[], namespace: string): boolean =>
  entries.filter((entry) => entry.startsWith(`${namespace}.`) && isOfAccess(entry)).length >= MOST_RECORDS;

const shardOf = (key: string): string => {
  const [byte = 0] = createHash("sha256").update(key).digest();
  return SPENDING_NAMES[byte % SPENDING_NAMES.length] ?? "";
};
