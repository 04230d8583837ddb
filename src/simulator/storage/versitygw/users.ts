import { accessKeysOf, s3KeyOf } from "../../core/users/s3-keys.ts";
import { xmlDocument } from "../../s3/xml/xml.ts";
import type { Contracts } from "../../world.ts";
import type { S3Client } from "../client.ts";

/** Keeps the gateway's users the same as the platform's S3 keys. */
export interface Users {
  /** Resolves when the gateway knows the current keys. */
  synced(): Promise<void>;
}

/** A user of the gateway has exactly one key, so each key is a user. */
interface GatewayUser {
  secretKey: string;
  role: "admin" | "userplus";
}

/** `admin` calls the gateway's administration, which starts without users. */
export function keepUsers(
  contracts: Contracts,
  admin: S3Client,
  onError: (where: string, error: unknown) => void,
): Users {
  /** The users that the gateway has, as JSON, by access key. */
  const existing = new Map<string, string>();
  let changed = true;
  let work = Promise.resolve();

  function desired(): Map<string, GatewayUser> {
    const users = new Map<string, GatewayUser>();
    for (const id of contracts.all().flatMap(accessKeysOf)) {
      const key = s3KeyOf(contracts.all(), id);
      if (key === undefined || !key.active) continue;
      // An administrator of the gateway opens the buckets of all contracts.
      const opensAll = key.user.role === "owner" && key.world.isFirst;
      users.set(id, { secretKey: key.secretKey, role: opensAll ? "admin" : "userplus" });
    }
    return users;
  }

  async function reconcile(): Promise<void> {
    if (!changed) return;
    changed = false;
    const users = desired();
    try {
      for (const [access, known] of existing) {
        if (JSON.stringify(users.get(access)) === known) continue;
        await admin.call("PATCH", `/delete-user?access=${access}`);
        existing.delete(access);
      }
      for (const [access, user] of users) {
        if (existing.has(access)) continue;
        await admin.call("PATCH", "/create-user", accountOf(access, user));
        existing.set(access, JSON.stringify(user));
      }
    } catch (error) {
      changed = true;
      onError("object storage: S3 keys", error);
    }
  }

  const markChanged = () => {
    changed = true;
  };
  contracts.each(({ resources, identity, accessKeys }) => {
    resources.watch((before, after) => {
      if ((after ?? before)?.type === "s3key") markChanged();
    });
    identity.users.watch(markChanged);
    accessKeys.keys.watch(markChanged);
  });

  return {
    synced() {
      work = work.then(reconcile);
      return work;
    },
  };
}

const accountOf = (access: string, { secretKey, role }: GatewayUser) =>
  xmlDocument([
    "Account",
    [
      ["Access", access],
      ["Secret", secretKey],
      ["Role", role],
    ],
  ]);
