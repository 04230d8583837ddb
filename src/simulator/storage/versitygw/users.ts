import { accessKeysOf, s3KeyOf } from "../../core/users/s3-keys.ts";
import { xmlDocument } from "../../s3/xml/xml.ts";
import type { Contracts } from "../../world.ts";
import type { S3Client } from "../client.ts";

/** Keeps the gateway's users the same as the platform's S3 keys. */
export interface Users {
  /** Resolves when the gateway knows every key as it is now. */
  inStep(): Promise<void>;
}

/** A gateway's user is a key: it has no notion of one user with several. */
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
  const there = new Map<string, string>();
  let changed = true;
  let work = Promise.resolve();

  function wanted(): Map<string, GatewayUser> {
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

  async function update(): Promise<void> {
    if (!changed) return;
    changed = false;
    const users = wanted();
    try {
      for (const [access, known] of there) {
        if (JSON.stringify(users.get(access)) === known) continue;
        await admin.call("PATCH", `/delete-user?access=${access}`);
        there.delete(access);
      }
      for (const [access, user] of users) {
        if (there.has(access)) continue;
        await admin.call("PATCH", "/create-user", accountOf(access, user));
        there.set(access, JSON.stringify(user));
      }
    } catch (error) {
      changed = true;
      onError("object storage: S3 keys", error);
    }
  }

  const note = () => {
    changed = true;
  };
  contracts.each(({ resources, identity, accessKeys }) => {
    resources.watch((before, after) => {
      if ((after ?? before)?.type === "s3key") note();
    });
    identity.users.watch(note);
    accessKeys.keys.watch(note);
  });

  return {
    inStep() {
      work = work.then(update);
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
