import { z } from "zod";
import { unlessThrown } from "../../runtime/unless-thrown.ts";

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
export function tokenIdentity(token: string): Identity | undefined {
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

const decode = (part: string): unknown =>
  unlessThrown(() => JSON.parse(Buffer.from(part, "base64url").toString("utf8")));

/** Shorter credentials, and shorter pieces of one, may be ordinary words in a name or a description. */
const SHORTEST_PIECE = 16;

/**
 * Removes credentials from a successful answer, because its content ends up in a status, an Event or an export that
 * others read. The signature of a JSON Web Token is removed too: without it the rest is useless.
 */
export function answerRedactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const all = secrets.flatMap((secret = "") => {
    const [, , signature = ""] = secret.split(".");
    // Also as JSON spells it, because a password may contain quotes.
    return [secret, signature, JSON.stringify(secret).slice(1, -1)].filter(({ length }) => length >= SHORTEST_PIECE);
  });
  const marks = [...new Set(all)];
  return (text) => marks.reduce((left, mark) => (left.includes(mark) ? left.replaceAll(mark, REDACTED) : left), text);
}

const REDACTED = "[redacted]";

/**
 * Removes a credential from text that is shown: the whole, its parts and every piece of 16 characters, because an answer may
 * quote a shortened token. Parts too short to be secret stay. Pieces in base64, in hexadecimal digits, percent-encoded, in
 * escapes of programs or in references of HTML are removed too.
 */
export function redactor(secret: string | undefined): (text: string) => string {
  if (secret === undefined) return (text) => text;
  const parts = [secret, ...secret.split(".")].filter((part) => part.length >= 8);
  return (text) => {
    const withoutParts = (whole: string) => parts.reduce((rest, part) => rest.replaceAll(part, REDACTED), whole);
    const left = withoutParts(text);
    const joined = left.replaceAll(SPACED, (pairs) => pairs.replaceAll(/[ :-]/g, ""));
    if (!/\S{16}/.test(joined)) return left;
    const plain = joined.replaceAll(ESCAPE, (_, hex, reference, decimal) =>
      String.fromCharCode(decimal === undefined ? Number.parseInt(hex ?? reference, 16) : Number(decimal)),
    );
    const shown = withoutPieces(withoutParts(plain), spellingsOf(secret));
    return shown === plain ? left : shown;
  };
}

/** Longer values, such as first-boot configurations, are not searched for in all encodings: that takes seconds. */
const LONGEST_PASSWORD = 256;
/** Shorter lines are words that any message may contain. */
const SHORTEST_LINE = 8;

/** Removes values of users' Secrets from text that is shown: the whole, its lines and its base64; a password in every encoding. */
export function secretsRedactor(secrets: readonly string[]): (text: string) => string {
  const all = secrets.filter(Boolean);
  const lines = all.flatMap((secret) => secret.split("\n").map((line) => line.trim()));
  const whole = all.flatMap((secret) => [secret, Buffer.from(secret).toString("base64")]);
  const forms = [...whole, ...lines.filter(({ length }) => length >= SHORTEST_LINE)];
  const encoded = all.filter(({ length }) => length <= LONGEST_PASSWORD).map(redactor);
  return (text) => {
    const left = forms.reduce((rest, form) => rest.replaceAll(form, REDACTED), text);
    return encoded.reduce((rest, redact) => redact(rest), left);
  };
}

/** An escaped character: percent-encoded, also repeatedly, in a string of a program, or as a reference of HTML and XML. */
const ESCAPE = /(?:%(?:25)*|\\{1,4}(?:u00|x))([0-9a-f]{2})|&#x0*([0-9a-f]{2});|&#0*(\d{2,3});/gi;
/** Hexadecimal digits in pairs, as a dump shows them. */
const SPACED = /(?:[0-9a-f]{2}[ :-]){7,}[0-9a-f]{2}/gi;

/** The encodings of a secret, each with a line end. In base64, a text has three, depending on the number of bytes before it. */
function spellingsOf(secret: string): string {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  const encoded = [0, 1, 2].flatMap((from) => [bytes.toString("base64", from), bytes.toString("base64url", from)]);
  return [secret, hex, hex.toUpperCase(), ...encoded, ""].join("\n");
}

function withoutPieces(text: string, spellings: string): string {
  // Each piece contains one of these. Few texts do.
  if (!spellings.match(/.{8}/gs)?.some((half) => text.includes(half))) return text;
  const pieces = new Set(Array.from(spellings, (_, at) => spellings.slice(at, at + SHORTEST_PIECE)));
  let left = "";
  for (let at = 0, end = 0; at < text.length; at = end === at ? at + 1 : end + SHORTEST_PIECE - 1) {
    for (end = at; pieces.has(text.slice(end, end + SHORTEST_PIECE)); ) end++;
    left += end === at ? text[at] : REDACTED;
  }
  return left;
}
