/** Token authentication, below /auth/v1. */
import { z } from "zod";
import { withoutTrailing } from "../../runtime/text.ts";
import { NotFound, Retry, Unauthorized } from "../answers/errors.ts";
import type { PlatformCall } from "../calls/call.ts";
import type { Connection } from "../calls/connection.ts";
import { tokenIdentity } from "../calls/credentials.ts";
import { type CollectionSource, type Item, resourceId } from "../collections/reading.ts";
import { checked } from "./paging.ts";

const base = "/auth/v1";

/** The URL of a path, for an `api` with or without a trailing slash. */
export const authUrl = (api: string, path: string): string => `${withoutTrailing(api, "/")}${base}${path}`;

const tokenShape = z.looseObject({ id: resourceId, createdDate: z.string(), expirationDate: z.string() });
const tokensShape = z.looseObject({ tokens: z.array(tokenShape) });

/** A token in the shape of other resources. Only its value tells whose it is. */
const shaped = ({ id, createdDate, expirationDate }: z.output<typeof tokenShape>, createdByUserId?: string) => ({
  id,
  metadata: { createdDate, ...(createdByUserId !== undefined && { createdByUserId }) },
  properties: { expirationDate },
});
export const authShaped = (answer: unknown) => shaped(tokenShape.parse(answer));
const itemOf = (shown: z.output<typeof tokenShape>): Item => ({ id: shown.id, state: undefined, raw: shaped(shown) });

/** The tokens of the calling user. The list has no pages, and a write is complete when it is answered. */
export function authCollection(connection: Connection, api: string, path: string): CollectionSource {
  const url = authUrl(api, path);
  const product = "auth";
  return {
    key: `${connection.id} ${url}`,
    async list(signal, priority) {
      const { body } = await connection.send({ method: "GET", url, product, signal, priority });
      return checked(tokensShape, body, url).tokens.map(itemOf);
    },
    async get(id, signal) {
      const one = `${url}/${encodeURIComponent(id)}`;
      try {
        const { body } = await connection.send({ method: "GET", url: one, product, signal });
        return itemOf(checked(tokenShape, body, one));
      } catch (error) {
        if (error instanceof NotFound) return undefined;
        throw error;
      }
    },
    isBusy: () => false,
  };
}

/** The maximum number of tokens of a user. */
const MOST = 100;

/** Only Accounts use the last tokens, for their own login. New tokens also leave room for those that replace others. */
const MOST_FOR = { creation: 80, replacement: 95 };
/** How many objects of one namespace may have tokens of a user that namespaces share. */
const MOST_OF_NAMESPACE = 20;

/** For whom a token is generated: `sharers` is the number of other objects of its namespace with tokens of a shared user. */
interface Applicant {
  isNew: boolean;
  sharers: number;
  title: string;
}

/** The maximum number of tokens, and how to make room. */
export const authCapacity = {
  most: MOST,
  async makeRoom(connection: Connection, api: string, guard: () => void): Promise<void> {
    const url = `${authUrl(api, "/tokens")}?criteria=EXPIRED`;
    await connection.send({ method: "DELETE", url, product: "auth", priority: "people", guard });
  },
  /** The tokens that there are, with room for one more; or why there is none. */
  async roomFor<T>(
    { isNew, sharers, title }: Applicant,
    list: () => Promise<T[]>,
    makeRoom: () => Promise<void>,
  ): Promise<{ items: T[] } | { full: string }> {
    if (isNew && sharers >= MOST_OF_NAMESPACE) {
      const full = `this namespace has ${sharers} tokens of ${title}, as many as one namespace may have: use an Account with a user of its own, or delete those that nobody uses, which stop working at once`;
      return { full };
    }
    const most = isNew ? MOST_FOR.creation : MOST_FOR.replacement;
    const { items, isFull } = await roomy({ most, list, makeRoom });
    if (!isFull) return { items };
    const kept = `of which the last ${MOST - most} are kept to renew others`;
    const full = `the user of the Account has ${items.length} tokens and the platform allows ${MOST}, ${kept}: delete those that nobody uses: a deleted one stops working at once`;
    return { full };
  },
};

/** Lists the items and makes room for one more if needed; `isFull` when that was not possible. */
export async function roomy<T>({
  most,
  list,
  makeRoom,
}: {
  most: number;
  list(): Promise<T[]>;
  makeRoom(): Promise<void>;
}): Promise<{ items: T[]; isFull: boolean }> {
  let items = await list();
  if (items.length >= most) {
    await makeRoom();
    items = await list();
  }
  return { items, isFull: items.length >= most };
}

/** A token of the user, as the list shows it. */
export type ShownToken = z.output<typeof tokenShape>;

/** The value of a new token, and its claims. */
export interface NewToken {
  value: string;
  id: string;
  issuedAt: number;
  expiresAt: number;
}

/** The tokens of the user who logs in with a password. */
export interface OwnTokens {
  list(): Promise<ShownToken[]>;
  /** An answer with a token that `isKnown` is none: its result has to be searched for. */
  generate(ttl: number, deadlineMs: number, isKnown: (id: string) => boolean): Promise<NewToken>;
  /** Succeeds if the token does not exist any more. */
  revoke(id: string): Promise<void>;
  /** Lists the tokens, with room for one more if possible. */
  roomy(): Promise<{ items: ShownToken[]; isFull: boolean }>;
  /** Revokes a token, and before it others of its user, authenticated by that token alone. Succeeds if it no longer works. */
  end(value: string, others?: readonly string[]): Promise<void>;
}

export function ownTokens(connection: Connection, api: string, guard: () => void): OwnTokens {
  const url = authUrl(api, "/tokens");
  const common = { product: "auth", priority: "people", withPassword: true, guard } as const;
  const remove = async (address: string, headers: Record<string, string> = {}) => {
    try {
      await connection.send({ method: "DELETE", url: address, headers, ...common });
    } catch (error) {
      const isOver = error instanceof NotFound || (headers.authorization && error instanceof Unauthorized);
      if (!isOver) throw error;
    }
  };
  const list = async () => {
    const { body } = await connection.send({ method: "GET", url, ...common });
    return checked(tokensShape, body, url).tokens;
  };
  return {
    list,
    async generate(ttl, deadlineMs, isKnown) {
      const call = authCreation.call(url, { ttl });
      const { body, status } = await connection.send({ ...call, ...common, deadlineMs });
      const value = generatedShape.safeParse(body).data?.token ?? "";
      const { tokenId: id, issuedAt, expiresAt } = tokenIdentity(value) ?? {};
      if (id === undefined || issuedAt === undefined || expiresAt === undefined || isKnown(id)) {
        const what = id !== undefined && isKnown(id) ? "a new token" : "a token of the platform";
        const detail = `the answer is not ${what}`;
        throw new Retry({ call: "GET /auth/v1/tokens/generate", status, detail }, "unknown");
      }
      return { value, id, issuedAt, expiresAt };
    },
    revoke: (id) => remove(`${url}/${encodeURIComponent(id)}`),
    roomy: () => roomy({ most: MOST, list, makeRoom: () => remove(`${url}?criteria=EXPIRED`) }),
    async end(value, others = []) {
      const headers = { authorization: `Bearer ${value}` };
      for (const id of others) await remove(`${url}/${encodeURIComponent(id)}`, headers);
      await remove(`${url}?criteria=CURRENT`, headers);
    },
  };
}

const ttlShape = z.looseObject({ ttl: z.int() });
const generatedShape = z.looseObject({ token: z.string().min(1) });

/** A token is created by a GET, and its value contains its id. */
export const authCreation = {
  call: (url: string, body: unknown): Pick<PlatformCall, "method" | "url" | "makes" | "makesKey"> => ({
    method: "GET",
    makes: true,
    makesKey: true,
    url: `${url}/generate?ttl=${ttlShape.parse(body).ttl}`,
  }),
  made(answer: unknown): unknown {
    const value = generatedShape.safeParse(answer).data?.token;
    const { tokenId, userId, issuedAt, expiresAt } = (value !== undefined && tokenIdentity(value)) || {};
    if (tokenId === undefined || issuedAt === undefined || expiresAt === undefined) return undefined;
    const [createdDate = "", expirationDate = ""] = [issuedAt, expiresAt].map((at) => new Date(at).toISOString());
    return { ...shaped({ id: tokenId, createdDate, expirationDate }, userId), token: value };
  },
};
