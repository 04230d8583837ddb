import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { steer } from "../cluster/steering.ts";
import { secret } from "./population.ts";
import type { Tenant } from "./tenants.ts";

const minted = z.object({ token: z.string() });
const TRIES = 20;
/** How long both tokens work. */
const OVERLAP_MS = 5000;

/** What an administrator does to an Account while it is in use. None of it may be felt by its objects. */
export function editAccount(tenant: Tenant, nth: number): Promise<void> {
  const edits = [rotateToken, describe, nameAnotherProduct];
  const edit = edits[nth % edits.length] ?? describe;
  return edit(tenant, nth);
}

/** Another token of the same user; the one before ends a little later. */
async function rotateToken(tenant: Tenant): Promise<void> {
  const before = steer(tenant.platform.url, tenant.token);
  const { token } = minted.parse(await insisting(() => before.call("GET", "/auth/v1/tokens/generate")));
  await tenant.stage.apply(secret(token));
  tenant.token = token;
  await delay(OVERLAP_MS);
  await insisting(() => before.call("DELETE", "/auth/v1/tokens?criteria=CURRENT")).catch(() => {});
}

async function describe({ stage }: Tenant, nth: number): Promise<void> {
  const text = `edit-${nth}`;
  await stage.patch("Account", "main", { metadata: { labels: { edited: text }, annotations: { description: text } } });
}

/** Changes spec, but nothing that anybody uses. */
async function nameAnotherProduct({ stage }: Tenant, nth: number): Promise<void> {
  await stage.patch("Account", "main", { spec: { endpoints: { dns: `https://dns-${nth}.example.com` } } });
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
