import { z } from "zod";
import { hashBody } from "../../hash.ts";
import { isConflict } from "../../kube/client/errors.ts";
import type { KubeClient } from "../../kube/client/transport.ts";
import { type KubeObject, pathOf } from "../../kube/resource.ts";
import { fetchObject } from "../../kube/watch/followed.ts";
import { SECRETS, secretValue } from "../../kube/write/owned-secret.ts";
import { KEPT_TOKENS, MANAGED_BY } from "../objects/names.ts";
import { author } from "../schema/author.ts";

const token = z.object({ id: z.string(), issuedAt: z.number(), expiresAt: z.number() });
const record = z.object({
  /** The Account, who logs in for it, and where. */
  account: z.string(),
  username: z.string(),
  endpoint: z.string(),
  current: token.optional(),
  /** Works until then, by the platform's clock, and is revoked. */
  previous: z.object({ id: z.string(), until: z.number() }).optional(),
  /** A token that is being made, and those of the same lifetime that were there before. */
  intent: z
    .object({
      nonce: z.string(),
      at: z.number(),
      by: author.optional(),
      ttl: z.number(),
      seen: z.array(z.string()),
    })
    .optional(),
  /** How many tokens the user had when the last one was made. */
  count: z.number().default(0),
  /** Ids of which one may be what a lost answer made. */
  unclaimed: z.array(z.string()).default([]),
});
/** What is known of the tokens that were made for an Account. */
export type KeptRecord = z.output<typeof record>;

export interface Kept {
  record: KeptRecord | undefined;
  /** The value of the current one. */
  token: string | undefined;
}

/** The tokens that were made for Accounts with a password: in one Secret of the operator's namespace, which nobody else reads. */
export interface KeptTokens {
  /** All of them, as the API server has them now. */
  read(): Promise<{ of(account: string): Kept; all(): KeptRecord[]; version: string }>;
  /**
   * Writes what is known of an Account's tokens, and the value where it is another one; undefined: there are none. With a
   * version that was read, fails with a conflict when anybody has written since.
   */
  write(account: string, record: KeptRecord | undefined, token?: string, version?: string): Promise<void>;
}

const nameOf = (account: string): string => hashBody(account).slice(0, 16);

export function createKeptTokens(
  { client, guard }: { client: KubeClient; guard: () => void },
  namespace: string,
): KeptTokens {
  const metadata = { name: KEPT_TOKENS, namespace };
  return {
    async read() {
      const secret: Partial<KubeObject> = (await fetchObject(client, SECRETS, metadata)) ?? {};
      const of = (account: string): Kept => ({
        record: parsed(secretValue(secret, `${nameOf(account)}.json`)),
        token: secretValue(secret, `${nameOf(account)}.token`),
      });
      const names = Object.keys(Object(secret.data)).filter((name) => name.endsWith(".json"));
      const { resourceVersion: version = NONE } = secret.metadata ?? {};
      return { of, version, all: () => names.flatMap((name) => parsed(secretValue(secret, name)) ?? []) };
    },
    async write(account, known, value, version) {
      const name = nameOf(account);
      const entry = (text: string | undefined) => (text === undefined ? null : Buffer.from(text).toString("base64"));
      const isOther = value !== undefined || known?.current === undefined;
      const data = {
        [`${name}.json`]: entry(known && JSON.stringify(known)),
        ...(isOther && { [`${name}.token`]: entry(value) }),
      };
      guard();
      const resourceVersion = version === NONE ? await create(client, metadata) : version;
      if (version === undefined) await provide(client, metadata);
      const path = pathOf(SECRETS, metadata);
      const body = { data, ...(resourceVersion !== undefined && { metadata: { resourceVersion } }) };
      await client.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
    },
  };
}

/** What somebody has spoilt counts as absent. */
function parsed(text: string | undefined): KeptRecord | undefined {
  try {
    return record.parse(JSON.parse(text ?? ""));
  } catch {
    return undefined;
  }
}

/** The version of a Secret that does not exist. */
const NONE = "";

async function provide(client: KubeClient, metadata: { name: string; namespace: string }): Promise<void> {
  if (await fetchObject(client, SECRETS, metadata)) return;
  await create(client, metadata).catch((error: unknown) => {
    if (!isConflict(error)) throw error;
  });
}

/** Its version. */
async function create(client: KubeClient, metadata: { name: string; namespace: string }): Promise<string | undefined> {
  const labels = { [MANAGED_BY]: "mooring" };
  const body = { apiVersion: "v1", kind: "Secret", metadata: { ...metadata, labels }, type: "Opaque" };
  const path = pathOf(SECRETS, { namespace: metadata.namespace });
  return (await client.request<KubeObject>({ method: "POST", path, body })).metadata.resourceVersion;
}
