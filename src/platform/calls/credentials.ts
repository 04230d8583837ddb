import { z } from "zod";

export interface Credentials {
  /** Without a token, the previous one stays. */
  token?: string;
  /** For calls with `withPassword`: those that create and revoke tokens. */
  login?: Login;
  /** Selects the contract of a user who has several. */
  contractNumber?: number;
  /** The agreed rate limit. */
  callsPerSecond?: number;
}

export interface Login {
  username: string;
  password: string;
}

/** The Authorization header of a login. */
export const basicOf = ({ username, password }: Login): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

/** The claims of a token. Decoded, not verified: for status and defaults, never for a decision about permissions. */
export interface Identity {
  userId?: string;
  contractNumber?: number;
  /** Milliseconds since the epoch. */
  issuedAt?: number;
  expiresAt?: number;
  tokenId?: string;
}

const text = z.string().max(256).optional().catch(undefined);
const whole = z.int().nonnegative().optional().catch(undefined);
const header = z.looseObject({ kid: text }).catch({ kid: undefined });
const identity = z.looseObject({ uuid: text, contractNumber: whole }).catch({});
const seconds = z.number().positive().max(1e11).optional().catch(undefined);
const payload = z.looseObject({ iat: seconds, exp: seconds, identity });

const longestToken = 64 * 1024;

/** Reads the claims of a JSON Web Token; undefined for anything else. Never throws. */
export function identityOf(token: string): Identity | undefined {
  if (token.length > longestToken) return undefined;
  const [first, second, , ...more] = token.split(".");
  if (first === undefined || second === undefined || more.length > 0) return undefined;
  const claims = payload.safeParse(decode(second));
  if (!claims.success) return undefined;
  const { iat, exp, identity } = claims.data;
  const { kid } = header.parse(decode(first));
  return {
    ...(identity?.uuid !== undefined && { userId: identity.uuid }),
    ...(identity?.contractNumber !== undefined && { contractNumber: identity.contractNumber }),
    ...(iat !== undefined && { issuedAt: Math.round(iat * 1000) }),
    ...(exp !== undefined && { expiresAt: Math.round(exp * 1000) }),
    ...(kid !== undefined && { tokenId: kid }),
  };
}

function decode(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Shorter credentials may be ordinary words in a name or a description. */
const SHORTEST_IN_ANSWERS = 16;

/**
 * Removes credentials from a successful answer, because its content ends up in a status, an Event or an export that
 * others read. The signature of a JSON Web Token is removed too: without it the rest is useless.
 */
export function answerRedactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const marks = secrets.flatMap((secret = "") => {
    const [, , signature = ""] = secret.split(".");
    return [secret, signature].filter(({ length }) => length >= SHORTEST_IN_ANSWERS);
  });
  return (text) => marks.reduce((left, mark) => (left.includes(mark) ? left.replaceAll(mark, REDACTED) : left), text);
}

const REDACTED = "[redacted]";

/**
 * Removes a credential from text that is shown: the whole and its parts, because an answer may quote a shortened token. Parts
 * too short to be secret stay.
 */
export function redactor(secret: string | undefined): (text: string) => string {
  if (secret === undefined) return (text) => text;
  const parts = [secret, ...secret.split(".")].filter((part) => part.length >= 8);
  return (text) => parts.reduce((left, part) => left.replaceAll(part, REDACTED), text);
}
