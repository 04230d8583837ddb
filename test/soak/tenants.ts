import { z } from "zod";
import type { Kind } from "../../src/kinds/kind.ts";
import { type Platform, startPlatform } from "../cluster/chaos-platform.ts";
import { openStage, type Stage } from "../cluster/chaos-stage.ts";
import { type Inhabitant, type Population, populate, secret } from "./population.ts";
import { SPEED } from "./trouble.ts";

/** A namespace with an Account of its own, and who lives there. */
export interface Tenant extends Population {
  readonly stage: Stage;
  readonly platform: Platform;
  /** What is in the Account's Secret now. */
  token: string;
}

export interface SoakObject extends Inhabitant {
  readonly tenant: Tenant;
}

const user = z.object({ token: z.string() });

/**
 * Tenants with as many objects each. The first two share a contract and are different users of it; the third has another
 * contract, at another address.
 */
export async function openTenants(
  cleanup: AsyncDisposableStack,
  options: { kubeconfig: string; count: number; objects: number; kinds: readonly Kind[]; seed: number },
): Promise<Tenant[]> {
  const { kubeconfig, count, objects, kinds, seed } = options;
  const platforms: Platform[] = [];
  const tenants: Tenant[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const contract = nth < 2 ? 0 : 1;
    const platform = platforms[contract] ?? cleanup.use(await startPlatform({ seed: seed + contract, speed: SPEED }));
    platforms[contract] = platform;
    const login = { username: `tenant-${nth}@example.com`, password: "a-password-of-theirs", role: "administrator" };
    const { token } = user.parse(await platform.steering.call("POST", "/_simulator/users", login));
    const stage = cleanup.use(await openStage(kubeconfig));
    const share = Math.floor(objects / count) + (nth < objects % count ? 1 : 0);
    tenants.push({ stage, platform, token, ...populate(share, platform.url, kinds) });
  }
  return tenants;
}

/** Account, credentials, and what the others stand on. */
export async function moveIn({ stage, token, prerequisites }: Tenant): Promise<void> {
  await stage.apply(secret(token));
  await stage.apply(...prerequisites);
  for (const { kind, metadata } of prerequisites) await stage.untilReady(kind, metadata.name);
}

export const soakObjectsOf = (tenants: readonly Tenant[]): SoakObject[] =>
  tenants.flatMap((tenant) => tenant.inhabitants.map((inhabitant) => ({ ...inhabitant, tenant })));
