import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { Chance } from "../chance.ts";
import type { Caller } from "../http/exchange.ts";
import { errorCode, refusal } from "../http/refusal.ts";
import type { Documents, Table } from "../store/documents.ts";
import type { Resources } from "../store/resources.ts";
import type { SimulatedClock } from "../time.ts";
import { claimOf, newProfile, type User, userKey, userSchema } from "../users.ts";
import { createSigner, newPrivateKey, type Signer, userIdIn } from "./jwt.ts";
import { privilegesOf } from "./privileges.ts";

const tokenSchema = z.object({ id: z.string(), userId: z.string(), createdAt: z.number(), expiresAt: z.number() });
export type Token = Readonly<z.infer<typeof tokenSchema>>;

/** `steeringToken` is the owner's token; that of the first contract also opens the control endpoints. */
const secretsSchema = z.object({ privateKey: z.string(), mainUser: z.string(), steeringToken: z.string() });

/** Seconds a token may live: 1 h, 4 h, 1, 7, 30, 60, 90, 180 and 365 days. */
export const lifetimes = [3600, 14400, 86400, 604800, 2592000, 5184000, 7776000, 15552000, 31536000];
export const longestLifetime = 31536000;
const tokensPerUser = 100;

/** The owner of a new contract, and the key that signs the tokens of all contracts. */
export interface FirstOwner {
  username: string;
  password?: string | undefined;
  privateKey?: string | undefined;
}

/** The users of one contract and their tokens. */
export interface Identity {
  privateKey(): string;
  readonly users: Table<User>;
  readonly tokens: Table<Token>;
  addUser(account: Omit<User, "id">): User;
  /** Stores a new or changed account; refuses a name that another one has. */
  save(user: User): void;
  /** Deletes an account and its tokens. */
  close(userId: string): void;
  /**
   * Mints a token. A user has at most 100; expired ones count until they are deleted. `skew` shifts the times in the
   * token.
   */
  mint(user: User, lifetime: number, skew?: number): string;
  /** The user of this contract who sends this Authorization header; undefined: none. Throws the platform's 401. */
  authenticate(authorization: string | undefined): Caller | undefined;
  /** The user of this contract whom the header names, whether or not the credentials are valid. */
  named(authorization: string | undefined): User | undefined;
  /** Makes the signing key, the owner and the owner's token, or finds those of an earlier run. Inside a transaction. */
  open(first: FirstOwner): { user: User; token: string };
}

interface IdentityParts {
  documents: Documents;
  resources: Resources;
  chance: Chance;
  clock: SimulatedClock;
  contractNumber: number;
}

export function createIdentity(parts: IdentityParts): Identity {
  const { documents, resources, clock } = parts;
  const secrets = documents.table("secrets", secretsSchema);
  const { users, byName, save, addUser, addProfile } = createAccounts(parts);
  const { tokens, start, issue, mint, fromBearer, tokenIdOf } = createTokens(parts, users);
  const fromBasic = basicLogin(parts, byName);
  return {
    users,
    tokens,
    addUser,
    save,
    close(userId) {
      users.delete(userId);
      for (const token of [...tokens.values()]) if (token.userId === userId) tokens.delete(token.id);
    },
    mint,
    authenticate(authorization) {
      const [scheme, value, ...rest] = (authorization ?? "").trim().split(/ +/);
      if (value !== undefined && rest.length === 0) {
        if (scheme?.toLowerCase() === "bearer") return fromBearer(value);
        if (scheme?.toLowerCase() === "basic") return fromBasic(value);
      }
      throw unauthorized("Credentials are missing: send Authorization with a bearer token");
    },
    named(authorization) {
      const [scheme = "", value = ""] = (authorization ?? "").trim().split(/ +/);
      if (scheme.toLowerCase() === "basic") return byName(Buffer.from(value, "base64").toString().split(":")[0] ?? "");
      return scheme.toLowerCase() === "bearer" ? users.get(userIdIn(value) ?? "") : undefined;
    },
    privateKey: () => secrets.get("own")?.privateKey ?? newPrivateKey(),
    open({ username, password = randomBytes(15).toString("base64url"), privateKey: shared }) {
      const kept = secrets.get("own");
      const privateKey = kept?.privateKey ?? shared ?? newPrivateKey();
      start(privateKey);
      const user =
        (kept && users.get(kept.mainUser)) ??
        addUser({ username, password, role: "owner", twoFactor: false, active: true, privileges: [] });
      // Accounts in old data directories have no resource.
      for (const each of users.values()) if (resources.get(userKey(each.id)) === undefined) addProfile(each);
      const tokenId = kept && tokenIdOf(kept.steeringToken);
      const isValid = tokenId !== undefined && (tokens.get(tokenId)?.expiresAt ?? 0) > clock.now();
      const token = kept && isValid ? kept.steeringToken : issue(user, longestLifetime);
      secrets.put("own", { privateKey, mainUser: user.id, steeringToken: token });
      return { user, token };
    },
  };
}

/** The accounts of a contract, each with a resource that shows the person. */
function createAccounts({ documents, resources, chance, clock }: IdentityParts) {
  const users = documents.table("users", userSchema);
  const byName = new Map<string, User>();
  users.watch((before, after) => {
    if (before !== undefined) byName.delete(before.username);
    if (after !== undefined) byName.set(after.username, after);
  });

  function save(user: User): void {
    const holder = byName.get(user.username);
    if (holder !== undefined && holder.id !== user.id) {
      throw refusal(422, errorCode.validation, `[(root)] the user name ${user.username} is taken already`);
    }
    users.put(user.id, user);
  }

  function addProfile(user: User): void {
    resources.put(newProfile(user, chance.uuid("s3-canonical-user").replaceAll("-", ""), clock.now()));
  }

  function addUser(account: Omit<User, "id">): User {
    const user: User = { ...account, id: chance.uuid("user") };
    save(user);
    addProfile(user);
    return user;
  }

  return { users, byName: (username: string) => byName.get(username), save, addUser, addProfile };
}

/** The tokens of a contract. They can be signed and checked once `start` has the key. */
function createTokens({ documents, resources, chance, clock, contractNumber }: IdentityParts, users: Table<User>) {
  const tokens = documents.table("tokens", tokenSchema);
  let signer: Signer | undefined;
  const signing = () => {
    if (signer === undefined) throw new Error("identity is used before it was opened");
    return signer;
  };

  function issue(user: User, lifetime: number, skew = 0): string {
    const now = clock.now();
    const token: Token = {
      id: chance.uuid("token"),
      userId: user.id,
      createdAt: now,
      expiresAt: now + lifetime * 1000,
    };
    tokens.put(token.id, token);
    const issuedAt = Math.floor((now + skew) / 1000);
    return signing().issue(token.id, {
      iss: "ionoscloud",
      iat: issuedAt,
      exp: issuedAt + lifetime,
      identity: {
        uuid: user.id,
        contractNumber,
        role: user.role,
        privileges: privilegesOf(resources, user).map(claimOf),
      },
    });
  }

  return {
    tokens,
    start(privateKey: string): void {
      signer = createSigner(privateKey);
    },
    issue,
    mint(user: User, lifetime: number, skew = 0): string {
      const kept = [...tokens.values()].filter((token) => token.userId === user.id);
      if (kept.length >= tokensPerUser) {
        throw refusal(422, errorCode.refused, `A user can have at most ${tokensPerUser} tokens; delete some first`);
      }
      return issue(user, lifetime, skew);
    },
    fromBearer(token: string): Caller | undefined {
      const record = tokens.get(signing().tokenIdOf(token) ?? "");
      if (record === undefined) return undefined;
      if (record.expiresAt <= clock.now()) throw unauthorized("The token has expired");
      const user = users.get(record.userId);
      if (user === undefined) throw unauthorized("The user of the token does not exist");
      if (!user.active) throw unauthorized("The user of the token is not active");
      return { contractNumber, user, tokenId: record.id };
    },
    tokenIdOf: (token: string) => signing().tokenIdOf(token),
  };
}

/** The user who sends Basic credentials; undefined: they are not valid. */
const basicLogin =
  ({ resources, contractNumber }: IdentityParts, byName: (username: string) => User | undefined) =>
  (encoded: string): Caller | undefined => {
    const credentials = Buffer.from(encoded, "base64").toString();
    const colon = credentials.indexOf(":");
    const user = byName(credentials.slice(0, Math.max(colon, 0)));
    if (!user?.active || !same(credentials.slice(colon + 1), user.password)) return undefined;
    if (user.twoFactor || resources.get(userKey(user.id))?.properties.forceSecAuth === true) {
      throw unauthorized("Accounts with two-factor authentication must use a bearer token");
    }
    return { contractNumber, user, tokenId: null };
  };

export function unauthorized(message: string) {
  return refusal(401, errorCode.unauthorized, message, { "WWW-Authenticate": "Bearer" });
}

/** Compares in constant time. */
export function same(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
