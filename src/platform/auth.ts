/** The product file of token authentication, below /auth/v1. */
import { z } from "zod";
import type { PlatformCall } from "./call.ts";
import type { Connection } from "./connection.ts";
import { identityOf } from "./credentials.ts";
import { NotFound } from "./errors.ts";
import { checked } from "./paging.ts";
import { type CollectionSource, type Item, resourceId } from "./reading.ts";

const base = "/auth/v1";

/** The address of a path, for an `api` with or without a trailing slash. */
export const authUrl = (api: string, path: string): string => `${api.replace(/\/+$/, "")}${base}${path}`;

const token = z.looseObject({ id: resourceId, createdDate: z.string(), expirationDate: z.string() });
const all = z.looseObject({ tokens: z.array(token) });

/** A token in the shape of other resources. */
const shaped = ({ id, createdDate, expirationDate }: z.output<typeof token>) => ({
  id,
  metadata: { createdDate },
  properties: { expirationDate },
});
const itemOf = (shown: z.output<typeof token>): Item => ({ id: shown.id, state: undefined, raw: shaped(shown) });

/** The tokens of the user who asks. The list has no pages, and a write is done when it is answered. */
export function authCollection(connection: Connection, api: string, path: string): CollectionSource {
  const url = authUrl(api, path);
  const product = "auth";
  return {
    key: `${connection.id} ${url}`,
    async list(signal, priority) {
      const { body } = await connection.send({ method: "GET", url, product, signal, priority });
      return checked(all, body, url).tokens.map(itemOf);
    },
    async get(id, signal) {
      const one = `${url}/${encodeURIComponent(id)}`;
      try {
        const { body } = await connection.send({ method: "GET", url: one, product, signal });
        return itemOf(checked(token, body, one));
      } catch (error) {
        if (error instanceof NotFound) return undefined;
        throw error;
      }
    },
    isBusy: () => false,
  };
}

const wanted = z.looseObject({ ttl: z.int() });
const generated = z.looseObject({ token: z.string().min(1) });

/** A token is made by a GET, and its value says which one it is. */
export const authCreation = {
  call: (url: string, body: unknown): Pick<PlatformCall, "method" | "url" | "makes"> => ({
    method: "GET",
    makes: true,
    url: `${url}/generate?ttl=${wanted.parse(body).ttl}`,
  }),
  made(answer: unknown): unknown {
    const value = generated.safeParse(answer).data?.token;
    const { tokenId, issuedAt, expiresAt } = (value !== undefined && identityOf(value)) || {};
    if (tokenId === undefined || issuedAt === undefined || expiresAt === undefined) return undefined;
    const [createdDate = "", expirationDate = ""] = [issuedAt, expiresAt].map((at) => new Date(at).toISOString());
    return { ...shaped({ id: tokenId, createdDate, expirationDate }), token: value };
  },
};
