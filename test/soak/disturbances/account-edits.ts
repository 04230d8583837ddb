import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { steer } from "../../cluster/steering.ts";
import { handOut, type Tenant } from "../tenants.ts";

const minted = z.object({ token: z.string() });
const TRIES = 20;
/** How long both tokens are valid. */
const OVERLAP_MS = 5000;
const OUTSIDE_MS = 5000;
const MISTAKEN_MS = 2000;

/** Edits of an Account by an administrator during use. They must not affect its objects. */
export function editAccount(tenant: Tenant, nth: number): Promise<void> {
  const isShared = tenant.login.account.kind === "ClusterAccount";
  const edits = [rotateToken, isShared ? shutOut : describe, nameAnotherProduct, changeUser];
  const edit = edits[nth % edits.length] ?? describe;
  return edit(tenant, nth);
}

/** Another token of the same user; the previous one is revoked a little later. */
async function rotateToken(tenant: Tenant): Promise<void> {
  const { login } = tenant;
  const before = steer(tenant.platform.url, login.token);
  const { token } = minted.parse(await insisting(() => before.call("GET", "/auth/v1/tokens/generate")));
  login.token = token;
  await handOut(login);
  await delay(OVERLAP_MS);
  await insisting(() => before.call("DELETE", "/auth/v1/tokens?criteria=CURRENT")).catch(() => {});
}

/**
 * A token of another user of the contract, by mistake, for a while: no resource may count as missing, and that user may
 * not create any.
 */
async function changeUser(tenant: Tenant, nth: number): Promise<void> {
  const { platform, login, stage } = tenant;
  const username = `mistaken-${nth}-${stage.namespace}@example.com`;
  const user = { username, password: "a-password-of-theirs", role: "administrator" };
  const { token } = minted.parse(await platform.steering.call("POST", "/_simulator/users", user));
  await handOut({ ...login, token });
  await delay(MISTAKEN_MS);
  await handOut(login);
}

const edited = ({ stage, login: { account } }: Tenant, change: object) =>
  stage.patch(account.kind, account.metadata.name, change);

async function describe(tenant: Tenant, nth: number): Promise<void> {
  const text = `edit-${nth}`;
  await edited(tenant, { metadata: { labels: { edited: text }, annotations: { description: text } } });
}

/** Admits nobody for a while: work in progress stops, and continues afterwards. */
async function shutOut(tenant: Tenant): Promise<void> {
  await edited(tenant, { spec: { namespaces: { names: [] } } });
  await delay(OUTSIDE_MS);
  await edited(tenant, { spec: tenant.login.account.spec });
}

/** Changes a part of spec that nothing uses. */
async function nameAnotherProduct(tenant: Tenant, nth: number): Promise<void> {
  await edited(tenant, { spec: { endpoints: { dns: `https://dns-${nth}.example.com` } } });
}

async function insisting(call: () => Promise<unknown>): Promise<unknown> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (tries === TRIES) throw error;
      await delay(200);
    }
  }
}
