import { setTimeout as delay } from "node:timers/promises";
import { readStatus } from "../../../src/engine/status/status.ts";
import { unsettled } from "../../cluster/chaos/stage.ts";
import type { Found } from "../../cluster/steering.ts";
import type { SoakObject } from "../tenants.ts";
import { byHandName, isByHand, type MadeByHand } from "./by-hand.ts";
import { STALE_SECONDS } from "./trouble.ts";

const PATIENCE_MS = 30_000;
/** Longer than the age of any answer: later reads show the change. */
const SEEN_MS = STALE_SECONDS * 1000 + 1500;

/** The resource of an object at rest on the platform. */
interface Claim {
  soaked: SoakObject;
  id: string;
  datacenter: string;
}

/** Number of manual changes by type. */
export interface Deeds {
  attached: number;
  renamed: number;
  removed: number;
  lans: number;
}

/** A person who works on the platform beside Mooring, as another user. */
export function createPerson() {
  const made: MadeByHand = { volumes: [], lans: [] };
  const deeds: Deeds = { attached: 0, renamed: 0, removed: 0, lans: 0 };
  let named = 0;

  /** Creates a volume, attaches it to a server, and returns when every read shows it. */
  async function attach({ soaked, id, datacenter }: Claim): Promise<boolean> {
    const { platform } = soaked.tenant;
    const name = byHandName(named++);
    const home = `/cloudapi/v6/datacenters/${datacenter}`;
    const current = async () => idle((await platform.named("volumes", name))[0]);
    const properties = { name, size: 10, type: "HDD", licenceType: "OTHER" };
    const volume = await achieve(current, async () => {
      if ((await platform.named("volumes", name)).length === 0) {
        await platform.asStranger("POST", `${home}/volumes`, { properties });
      }
    });
    const attached = await achieve(
      async () => {
        const found = await current();
        return found?.serverId === id ? found : undefined;
      },
      async () => volume && (await platform.asStranger("POST", `${home}/servers/${id}/volumes`, { id: volume.id })),
    );
    if (!attached) return false;
    await delay(SEEN_MS);
    made.volumes.push({ name, what: `attached to ${fullName(soaked)} (${id})`, id: attached.id, datacenter });
    deeds.attached += 1;
    return true;
  }

  /** A change that Mooring must revert. */
  async function rename({ soaked, id, datacenter }: Claim): Promise<void> {
    const path = soaked.kind === "Datacenter" ? "" : `/${datacenter}/servers`;
    const name = `${soaked.name}-renamed`;
    await soaked.tenant.platform.asStranger("PATCH", `/cloudapi/v6/datacenters${path}/${id}`, { name });
    deeds.renamed += 1;
  }

  /** Deletes a server without volumes of others: Mooring must create it again. */
  async function removeServer({ soaked: { tenant }, id, datacenter }: Claim): Promise<void> {
    const volumes = await tenant.platform.steering.resources("volumes");
    if (volumes.some((each) => each.serverId === id && isByHand(each))) return;
    const path = `/cloudapi/v6/datacenters/${datacenter}/servers/${id}?deleteVolumes=true`;
    await tenant.platform.asStranger("DELETE", path);
    deeds.removed += 1;
  }

  /** Adds a LAN beside the one of an object, or in its place: the platform reuses the number of a deleted LAN. */
  async function addLan({ soaked, id, datacenter }: Claim, instead: boolean): Promise<void> {
    const { platform } = soaked.tenant;
    const name = byHandName(named++);
    const path = `/cloudapi/v6/datacenters/${datacenter}/lans`;
    if (instead) {
      const lans = await platform.steering.resources("lans");
      const there = lans.find((each) => each.id === id && each.datacenterId === datacenter);
      // The object may not know yet that its number belongs to another LAN.
      if (!there || isByHand(there)) return;
      await platform.asStranger("DELETE", `${path}/${id}`);
      deeds.removed += 1;
    }
    const current = async () => idle((await platform.named("lans", name))[0]);
    const found = await achieve(current, async () => {
      const there = (await platform.named("lans", name)).length > 0;
      if (!there) await platform.asStranger("POST", path, { properties: { name, public: false } });
    });
    if (!found) return;
    await delay(SEEN_MS);
    const where = `${instead ? "instead of" : "beside"} that of ${fullName(soaked)} (${id})`;
    made.lans.push({ name, what: `made ${where}`, id: found.id, datacenter });
    deeds.lans += 1;
  }

  return {
    made,
    deeds,
    /** Does one change to the resource of an object; true if a volume of this person is attached to it now. */
    async workOn(soaked: SoakObject, dice: number): Promise<boolean> {
      const claim = await claimOf(soaked);
      if (!claim) return false;
      try {
        if (soaked.kind === "Server" && dice < 0.7) return await attach(claim);
        if (soaked.kind === "Server" && dice < 0.85) await removeServer(claim);
        else if (soaked.kind === "Lan") await addLan(claim, dice < 0.5);
        else await rename(claim);
      } catch {
        // The platform also refuses or ignores calls of people.
      }
      return false;
    },
  };
}

export type Person = ReturnType<typeof createPerson>;

const fullName = ({ kind, name, tenant }: SoakObject): string => `${kind} ${tenant.stage.namespace}/${name}`;

/** Kinds with manual changes. */
export const worthTheWork = ({ kind }: SoakObject): boolean => ["Server", "Lan", "Datacenter"].includes(kind);

/** Only for an object at rest: changes during a deletion cannot be held against Mooring. */
async function claimOf(soaked: SoakObject): Promise<Claim | undefined> {
  const object = await soaked.tenant.stage.read(soaked.kind, soaked.name);
  if (!object || object.metadata.deletionTimestamp !== undefined || unsettled(object) !== undefined) return undefined;
  const { id, parents = {} } = readStatus(object);
  return id === undefined ? undefined : { soaked, id, datacenter: parents.datacenter ?? id };
}

const idle = (found: Found | undefined): Found | undefined =>
  found?.state === "AVAILABLE" && found.visible === true ? found : undefined;

/** Repeats a check until it succeeds; undefined after a timeout. */
async function achieve(
  current: () => Promise<Found | undefined>,
  ask: () => Promise<unknown>,
): Promise<Found | undefined> {
  const endsAt = performance.now() + PATIENCE_MS;
  while (performance.now() < endsAt) {
    const found = await current();
    if (found) return found;
    await ask().catch(() => {});
    await delay(300);
  }
  return undefined;
}
