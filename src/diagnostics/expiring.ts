import { z } from "zod";
import { PAUSED } from "../engine/state/names.ts";
import { readStatus, readWhole } from "../engine/status/status.ts";
import { allObjects, isPaused, type MooringObject } from "./objects.ts";
import type { PlatformReader } from "./reader.ts";
import { attempt, type Sources } from "./sources.ts";

const DAY_MS = 86_400_000;

interface Expiring {
  what: string;
  object: string;
  expires: string;
  /** Whether it is renewed automatically. */
  renews_itself: boolean;
  /** The way out, if it is not. */
  what_to_do?: string;
  /** Other uses of the same credential. */
  also?: string[];
}

/** A credential with its identifiers. Two that share an identifier are the same. */
interface Found extends Expiring {
  identifiers: readonly string[];
}

const account = z.looseObject({
  tokenExpiresAt: z.string().optional(),
  tokenId: z.string().optional(),
  platformUserId: z.string().optional(),
});
const named = z.looseObject({ credentialsSecretRef: z.looseObject({ name: z.string() }) });

/** Keys, tokens and certificates that expire within some days or have expired, in order of expiry. */
export async function expiring(
  sources: Sources,
  asked: { days: number; namespace?: string | undefined; selector?: string | undefined },
) {
  const found: Found[] = [];
  const missing: string[] = [];
  let now = sources.now();
  await attempt(sources, "objects", missing, async () => {
    for (const each of (await allObjects(sources, asked.namespace, undefined, asked.selector)).values())
      found.push(...ofObject(each));
  });
  await attempt(sources, "platform", missing, async () => {
    const platform = await sources.platform();
    now = platform.now();
    found.push(...ownToken(platform));
    if (platform.has("certificates")) found.push(...(await certificates(platform, sources.signal)));
  });
  // Neither side could be read.
  if (missing.length === 2) throw new Error(missing.join("; "));
  const until = now + asked.days * DAY_MS;
  const all = onceEach(found.filter(({ expires }) => !Number.isNaN(Date.parse(expires))));
  const items = all
    .filter(({ expires }) => Date.parse(expires) <= until)
    .sort((a, b) => Date.parse(a.expires) - Date.parse(b.expires))
    .map(({ identifiers: _, ...each }) => ({
      ...each,
      days_left: Math.floor((Date.parse(each.expires) - now) / DAY_MS),
    }));
  return { items, checked: all.length, ...(missing.length > 0 && { not_checked: missing }) };
}

/** The certificate or key of an object, and the token of an Account. */
function ofObject(each: MooringObject): Found[] {
  const { kind, key, object } = each;
  const { key: keyStatus, certificate, id } = readStatus(object);
  const renewal = isPaused(each)
    ? { renews_itself: false, what_to_do: `remove the annotation ${PAUSED}: nothing is renewed while it is set` }
    : { renews_itself: true };
  const expires = certificate?.expiresAt ?? keyStatus?.expiresAt;
  const issued = kind.resource?.place.product === "auth" ? "token" : "key";
  const own =
    expires === undefined ? [] : [{ what: certificate ? "certificate" : issued, object: key, expires, ...renewal }];
  const { tokenExpiresAt, tokenId, platformUserId } =
    kind.resource === undefined ? (account.safeParse(readWhole(object)).data ?? {}) : {};
  const identifiers = id === undefined ? [] : [id];
  const result: Found[] = own.map((mine) => ({ ...mine, identifiers }));
  if (tokenExpiresAt === undefined) return result;
  const secret = named.safeParse(object.spec).data?.credentialsSecretRef.name;
  return [
    ...result,
    {
      what: "token of the Account",
      object: key,
      expires: tokenExpiresAt,
      // The token id is known only for tokens that the operator created.
      ...(tokenId !== undefined
        ? renewal
        : { renews_itself: false, what_to_do: `put another token into Secret ${secret ?? "of credentialsSecretRef"}` }),
      identifiers: [tokenId, identifierOf(platformUserId, tokenExpiresAt)].flatMap((identifier) => identifier ?? []),
    },
  ];
}

/** Without its value, a token is identified by its user and its expiry in seconds. */
const identifierOf = (user: string | undefined, expires: string): string | undefined =>
  user === undefined ? undefined : `${user} ${Math.floor(Date.parse(expires) / 1000)}`;

function ownToken({ identity }: PlatformReader): Found[] {
  const { expiresAt, tokenId, userId } = identity ?? {};
  if (expiresAt === undefined) return [];
  const expires = new Date(expiresAt).toISOString();
  return [
    {
      what: "token in use",
      object: "the token itself",
      expires,
      renews_itself: false,
      what_to_do: "use another token",
      identifiers: [tokenId, identifierOf(userId, expires)].flatMap((identifier) => identifier ?? []),
    },
  ];
}

/** Merges entries for the same credential. The first one stays, with the others in `also`. */
function onceEach(found: readonly Found[]): Found[] {
  const all: Found[] = [];
  for (const each of found) {
    const at = all.findIndex(({ identifiers }) =>
      identifiers.some((identifier) => each.identifiers.includes(identifier)),
    );
    const same = all[at];
    if (!same) {
      all.push(each);
      continue;
    }
    const also = [...(same.also ?? []), `${each.what}: ${each.object}`];
    all[at] = { ...same, identifiers: [...same.identifiers, ...each.identifiers], also };
  }
  return all;
}

const listed = z.looseObject({
  items: z.array(
    z.looseObject({
      id: z.string(),
      metadata: z.looseObject({
        notAfter: z.string().nullish(),
        commonName: z.string().nullish(),
        autoCertificate: z.string().nullish(),
      }),
    }),
  ),
});

async function certificates(platform: PlatformReader, signal: AbortSignal): Promise<Found[]> {
  const url = `${platform.endpoint("certificates").replace(/\/+$/, "")}/certificates?limit=1000`;
  const { body } = await platform.read({ method: "GET", url, product: "certificates", signal });
  return listed.parse(body).items.flatMap(({ id, metadata: { notAfter, commonName, autoCertificate } }) =>
    notAfter == null
      ? []
      : [
          {
            what: "certificate of the certificate manager",
            object: `${commonName ?? ""} ${id}`.trim(),
            expires: notAfter,
            ...(autoCertificate == null
              ? { renews_itself: false, what_to_do: "upload a new one, and use that instead" }
              : { renews_itself: true }),
            identifiers: [id],
          },
        ],
  );
}
