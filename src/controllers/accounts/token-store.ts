import { z } from "zod";
import { KEPT_TOKEN, MANAGED_BY, TOKEN_RECORD } from "../../engine/state/names.ts";
import { author } from "../../engine/status/author.ts";
import { isNotFound } from "../../kube/client/errors.ts";
import type { KubeClient } from "../../kube/client/transport.ts";
import { type KubeObject, pathOf } from "../../kube/resource.ts";
import { fetchObject } from "../../kube/watch/followed.ts";
import { SECRETS, secretValue } from "../../kube/write/owned-secret.ts";
import { spellingOf } from "../../platform/addresses/endpoints.ts";
import type { Clock } from "../../runtime/clock.ts";
import { hashBody } from "../../runtime/hash.ts";
import { unlessThrown } from "../../runtime/unless-thrown.ts";

const token = z.object({ id: z.string(), issuedAt: z.number(), expiresAt: z.number() });
const record = z.object({
  /** The Account, the user that logs in for it, and the endpoint. */
  account: z.string(),
  username: z.string(),
  endpoint: z.string().transform(spellingOf),
  current: token.optional(),
  /** Revoked at `until`, by the platform's clock. */
  previous: z.object({ id: z.string(), until: z.number() }).optional(),
  /** A token that is being made, and the ids of those with the same lifetime that existed before. */
  intent: z
    .object({
      nonce: z.string(),
      at: z.number(),
      by: author,
      ttl: z.number(),
      seen: z.array(z.string()),
    })
    .optional(),
  /** How many tokens the user had when the last one was made. */
  count: z.number(),
  /** Ids of which one may be the result of a lost answer. */
  unclaimed: z.array(z.string()),
});
/** The record of the tokens that were made for an Account. */
export type TokenRecord = z.output<typeof record>;

export interface StoredToken {
  record: TokenRecord | undefined;
  /** The value of the current one. */
  token: string | undefined;
  /** The resourceVersion of the Secret that was read. */
  version: string;
}

export const tokenSecretName = (account: string): string => `${KEPT_TOKEN}-${hashBody(account).slice(0, 16)}`;

/** The answer to a metadata-only list; an empty one has null. */
const listed = z.object({ items: z.array(z.looseObject({ metadata: z.looseObject({}) })).nullable() });

export type TokenStore = ReturnType<typeof createTokenStore>;

/**
 * The tokens that were made for Accounts with a password: one Secret for each, in the operator's namespace. The record is in an
 * annotation, so that all records can be listed without the values.
 */
export function createTokenStore(
  { client, guard, clock }: { client: KubeClient; guard: () => void; clock: Pick<Clock, "monotonic"> },
  namespace: string,
) {
  const labels = { [MANAGED_BY]: "mooring", [TOKEN_RECORD]: "true" };
  let known: { at: number; records: Promise<TokenRecord[]> } | undefined;
  async function list(): Promise<TokenRecord[]> {
    const query = { labelSelector: `${MANAGED_BY}=mooring,${TOKEN_RECORD}=true` };
    const path = pathOf(SECRETS, { namespace });
    const found = await client.request({ method: "GET", path, query, accept: METADATA_ONLY });
    return (listed.parse(found).items ?? []).flatMap((secret) => recordOf(secret) ?? []);
  }
  const create = async (name: string, content: { metadata: object; data: object }) => {
    const metadata = { ...content.metadata, name, namespace, labels };
    const body = { apiVersion: "v1", kind: "Secret", type: "Opaque", ...content, metadata };
    await client.request({ method: "POST", path: pathOf(SECRETS, { namespace }), body });
  };
  return {
    /** Of one Account, as the API server has it now. */
    async read(account: string): Promise<StoredToken> {
      const secret = await fetchObject(client, SECRETS, { namespace, name: tokenSecretName(account) });
      if (!secret) return { record: undefined, token: undefined, version: NONE };
      const { resourceVersion: version = NONE } = secret.metadata;
      return { record: recordOf(secret), token: secretValue(secret, "token"), version };
    },
    /** The records of all Accounts, not older than this. */
    all(ageMs: number): Promise<readonly TokenRecord[]> {
      const now = clock.monotonic();
      if (known && known.at >= now - ageMs) return known.records;
      const asked = { at: now, records: list() };
      known = asked;
      asked.records.catch(() => {
        if (known === asked) known = undefined;
      });
      return asked.records;
    },
    /** Writes the record of an Account, and a new value; undefined deletes both. `version`: conflicts if it has changed since. */
    async write(account: string, next: TokenRecord | undefined, value?: string, version?: string): Promise<void> {
      const name = tokenSecretName(account);
      const path = pathOf(SECRETS, { namespace, name });
      guard();
      if (!next) return client.request<void>({ method: "DELETE", path }).catch(unlessGone);
      const annotations = { [TOKEN_RECORD]: JSON.stringify(next) };
      const data = value === undefined ? {} : { token: Buffer.from(value).toString("base64") };
      if (version === NONE) return create(name, { metadata: { annotations }, data });
      const isNone = value === undefined && next.current === undefined;
      const body = {
        metadata: { annotations, ...(version !== undefined && { resourceVersion: version }) },
        data: isNone ? { token: null } : data,
      };
      try {
        await client.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
      } catch (error) {
        if (version !== undefined || !isNotFound(error)) throw error;
        await create(name, { metadata: { annotations }, data });
      }
    },
  };
}

const METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/** The version of a Secret that does not exist. */
const NONE = "";

/** An invalid record counts as absent. */
const recordOf = ({ metadata }: { metadata: Pick<KubeObject["metadata"], "annotations"> }): TokenRecord | undefined =>
  unlessThrown(() => record.parse(JSON.parse(metadata.annotations?.[TOKEN_RECORD] ?? "")));

const unlessGone = (error: unknown): void => {
  if (!isNotFound(error)) throw error;
};
