import { z } from "zod";
import { readStatus, readWhole } from "../engine/status/status.ts";
import { allObjects } from "./objects.ts";
import type { PlatformReader } from "./reader.ts";
import { attempt, type Sources } from "./sources.ts";

const DAY_MS = 86_400_000;

interface Expiring {
  what: string;
  object: string;
  expires: string;
}

const account = z.looseObject({ tokenExpiresAt: z.string().optional() });

/** Keys, tokens and certificates that expire within some days, the first ones first; what has expired is there, too. */
export async function expiring(sources: Sources, asked: { days: number; namespace?: string | undefined }) {
  const found: Expiring[] = [];
  const missing: string[] = [];
  const add = (what: string, object: string, expires: string | undefined) => {
    if (expires !== undefined && !Number.isNaN(Date.parse(expires))) found.push({ what, object, expires });
  };
  let now = sources.now();
  await attempt(sources, "objects", missing, async () => {
    for (const { key, object } of (await allObjects(sources, asked.namespace)).values()) {
      const { key: facts, certificate } = readStatus(object);
      add("key", key, facts?.expiresAt);
      add("certificate", key, certificate?.expiresAt);
      add("token of the Account", key, account.safeParse(readWhole(object)).data?.tokenExpiresAt);
    }
  });
  await attempt(sources, "platform", missing, async () => {
    const platform = await sources.platform();
    now = platform.now();
    const at = platform.identity?.expiresAt;
    add("token in use", "the token itself", at === undefined ? undefined : new Date(at).toISOString());
    if (platform.has("certificates")) for (const each of await certificates(platform, sources.signal)) found.push(each);
  });
  const until = now + asked.days * DAY_MS;
  const items = found
    .filter(({ expires }) => Date.parse(expires) <= until)
    .sort((a, b) => Date.parse(a.expires) - Date.parse(b.expires))
    .map((each) => ({ ...each, days_left: Math.floor((Date.parse(each.expires) - now) / DAY_MS) }));
  return { items, checked: found.length, ...(missing.length > 0 && { not_checked: missing }) };
}

const listed = z.looseObject({
  items: z.array(
    z.looseObject({
      id: z.string(),
      metadata: z.looseObject({ notAfter: z.string().nullish(), commonName: z.string().nullish() }),
    }),
  ),
});

async function certificates(platform: PlatformReader, signal: AbortSignal): Promise<Expiring[]> {
  const url = `${platform.endpoint("certificates").replace(/\/+$/, "")}/certificates?limit=1000`;
  const { body } = await platform.read({ method: "GET", url, product: "certificates", signal });
  return listed.parse(body).items.flatMap(({ id, metadata: { notAfter, commonName } }) =>
    notAfter == null
      ? []
      : [
          {
            what: "certificate of the certificate manager",
            object: `${commonName ?? ""} ${id}`.trim(),
            expires: notAfter,
          },
        ],
  );
}
