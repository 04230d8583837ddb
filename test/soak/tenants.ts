import { z } from "zod";
import { KIND_NAMES } from "../../src/kinds/identity/admission.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import { type Platform, startPlatform } from "../cluster/chaos/platform.ts";
import { openStage, type Stage } from "../cluster/chaos/stage.ts";
import { CREDENTIALS, type Manifest, manifest } from "../crash/lives/manifests.ts";
import { accountSpec } from "../subjects/surroundings.ts";
import { SPEED } from "./disturbances/trouble.ts";
import { type Inhabitant, type Population, populate, secret } from "./population.ts";

/** A namespace with its objects, with its own Account or a shared ClusterAccount. */
export interface Tenant extends Population {
  readonly stage: Stage;
  readonly platform: Platform;
  readonly login: Login;
}

/** An Account or a ClusterAccount, and every Secret with its token. */
export interface Login {
  readonly account: Manifest;
  readonly secrets: { stage: Stage; name: string }[];
  token: string;
}

export interface SoakObject extends Inhabitant {
  readonly tenant: Tenant;
}

const user = z.object({ token: z.string() });

const SHARED = "shared";

/**
 * Tenants with the same number of objects each. The first two share a contract as different users. The others have
 * another contract at another address, and share a ClusterAccount. Its Secret is in the first namespace, which is the
 * operator's.
 */
export async function openTenants(
  cleanup: AsyncDisposableStack,
  options: { kubeconfig: string; count: number; objects: number; kinds: readonly Kind[]; seed: number },
): Promise<Tenant[]> {
  const { kubeconfig, count, objects, kinds, seed } = options;
  const stages: Stage[] = [];
  for (let nth = 0; nth < count; nth += 1) stages.push(cleanup.use(await openStage(kubeconfig)));
  const platforms: Platform[] = [];
  const tenants: Tenant[] = [];
  let common: Login | undefined;
  for (const [nth, stage] of stages.entries()) {
    const contract = nth < 2 ? 0 : 1;
    const platform = platforms[contract] ?? cleanup.use(await startPlatform({ seed: seed + contract, speed: SPEED }));
    platforms[contract] = platform;
    const ground = { api: platform.url, nth: 0 };
    const logIn = async (account: Manifest, secrets: Login["secrets"]): Promise<Login> => {
      const username = `tenant-${nth}@example.com`;
      const body = { username, password: "a-password-of-theirs", role: "administrator" };
      const { token } = user.parse(await platform.steering.call("POST", "/_simulator/users", body));
      return { account, secrets, token };
    };
    const [home] = stages;
    if (contract === 1 && home) {
      const names = stages.slice(2).map(({ namespace }) => namespace);
      // Some kinds must be admitted by name.
      const admitted = { namespaces: { names }, kinds: [...KIND_NAMES] };
      const spec = { ...accountSpec(ground), credentialsSecretRef: { name: SHARED }, ...admitted };
      common ??= await logIn(manifest("ClusterAccount", SHARED, spec), [{ stage: home, name: SHARED }]);
    }
    const login = common ?? (await logIn(manifest("Account", "main", accountSpec(ground)), []));
    // Accounts that are created and deleted have the same token.
    login.secrets.push({ stage, name: CREDENTIALS });
    const share = Math.floor(objects / count) + (nth < objects % count ? 1 : 0);
    tenants.push({ stage, platform, login, ...populate(share, platform.url, kinds, login.account, `-${nth}`) });
  }
  return tenants;
}

/** Writes the token into every Secret that needs it. */
export async function handOut({ secrets, token }: Login): Promise<void> {
  for (const { stage, name } of secrets) await stage.apply(secret(token, name));
}

/** Creates Account, credentials and prerequisites. */
export async function moveIn({ stage, login, prerequisites }: Tenant): Promise<void> {
  await handOut(login);
  await stage.apply(...prerequisites);
  for (const { kind, metadata } of prerequisites) await stage.untilReady(kind, metadata.name);
}

export const soakObjectsOf = (tenants: readonly Tenant[]): SoakObject[] =>
  tenants.flatMap((tenant) => tenant.inhabitants.map((inhabitant) => ({ ...inhabitant, tenant })));
