import { z } from "zod";
import { KEPT_TOKEN, MANAGED_BY, TOKEN_RECORD } from "../../engine/state/names.ts";
import { author } from "../../engine/status/author.ts";
import type { KubeClient } from "../../kube/client/transport.ts";
import { createRecordedSecrets } from "../../kube/write/recorded-secrets.ts";
import { spellingOf } from "../../platform/addresses/endpoints.ts";
import type { Clock } from "../../runtime/clock.ts";
import { hashBody } from "../../runtime/hash.ts";
import { shareRecent } from "../../runtime/lru.ts";
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
    .object({ nonce: z.string(), at: z.number(), by: author, ttl: z.number(), seen: z.array(z.string()) })
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

export type TokenStore = ReturnType<typeof createTokenStore>;

/** The tokens that were made for Accounts with a password: one Secret for each, in the operator's namespace. */
export function createTokenStore(
  { client, guard, clock }: { client: KubeClient; guard: () => void; clock: Pick<Clock, "monotonic"> },
  namespace: string,
) {
  const labels = { [MANAGED_BY]: "mooring", [TOKEN_RECORD]: "true" };
  const secrets = createRecordedSecrets(client, { namespace, labels, annotation: TOKEN_RECORD, key: "token" });
  return {
    /** Of one Account, as the API server has it now. */
    async read(account: string): Promise<StoredToken> {
      const { record: text, value: token, version } = await secrets.read(tokenSecretName(account));
      return { record: readRecord(text), token, version };
    },
    /** The records of all Accounts, not older than this many milliseconds. */
    all: shareRecent(clock, async () => (await secrets.records()).flatMap((text) => readRecord(text) ?? [])),
    /** Writes the record of an Account, and a new value; undefined deletes both. `version`: conflicts if it has changed since. */
    async write(account: string, next: TokenRecord | undefined, value?: string, version?: string): Promise<void> {
      const name = tokenSecretName(account);
      guard();
      if (!next) return secrets.remove(name);
      const kept = next.current === undefined ? null : undefined;
      await secrets.write(name, { record: JSON.stringify(next), value: value ?? kept, version });
    },
  };
}

/** An invalid record counts as absent. */
const readRecord = (text = ""): TokenRecord | undefined => unlessThrown(() => record.parse(JSON.parse(text)));
