import { inBytes, LimitExceeded } from "./limits.ts";

/**
 * Limits the memory for answers of the platform, while they are read and, for lists, while they are kept. An Account may use a
 * quarter of it, and a namespace, which may have many Accounts, half. When all of it is used, a namespace that uses little
 * still gets what it needs: others must not stop its work.
 */
export interface MemoryBudget {
  /** Throws `LimitExceeded` when it is too much, and then takes nothing. */
  take(account: string, bytes: number): void;
  give(account: string, bytes: number): void;
}

/** A namespace that uses no more than this gets it even when all memory is used. */
const smallBytes = 16 * 1024 * 1024;

export function createMemoryBudget(totalBytes: number): MemoryBudget {
  const taken = new Map<string, number>();
  const shares = (account: string) =>
    [
      { of: account, most: totalBytes / 4, who: "this Account" },
      { of: `${account.split("/")[0]}/`, most: totalBytes / 2, who: "the Accounts of this namespace" },
      { of: "", most: totalBytes, who: "all Accounts" },
    ] as const;
  const add = (account: string, bytes: number) => {
    for (const { of } of shares(account)) {
      const left = (taken.get(of) ?? 0) + bytes;
      if (left > 0) taken.set(of, left);
      else taken.delete(of);
    }
  };
  return {
    take(account, bytes) {
      const [own, namespace, all] = shares(account);
      const after = (of: string) => (taken.get(of) ?? 0) + bytes;
      const isSmall = after(namespace.of) <= Math.min(smallBytes, own.most);
      const over = [own, namespace, ...(isSmall ? [] : [all])].find(({ of, most }) => after(of) > most);
      if (over) {
        throw new LimitExceeded(`the answers kept for ${over.who} take more than ${inBytes(over.most)} of memory`);
      }
      add(account, bytes);
    },
    give: (account, bytes) => add(account, -bytes),
  };
}

/** The memory of one list. */
export interface Room {
  /** Counts bytes that were read. Throws `LimitExceeded`. */
  take(bytes: number): void;
  /** Gives back bytes that were read and are not kept. */
  shed(bytes: number): void;
  /** The read has ended. `isKept`: it replaces the former list; otherwise it is dropped. */
  end(isKept: boolean): void;
  /** The list is no longer kept. */
  close(): void;
}

export function openRoom(budget: MemoryBudget | undefined, account: string): Room {
  let [kept, read] = [0, 0];
  let closed = false;
  const end = (isKept: boolean) => {
    const left = isKept ? read : kept;
    budget?.give(account, kept + read - left);
    [kept, read] = [left, 0];
  };
  return {
    take(bytes) {
      budget?.take(account, bytes);
      read += bytes;
    },
    shed(bytes) {
      const less = Math.min(Math.max(0, bytes), read);
      budget?.give(account, less);
      read -= less;
    },
    end(isKept) {
      end(isKept);
      if (closed) this.close();
    },
    close() {
      closed = true;
      budget?.give(account, kept);
      kept = 0;
    },
  };
}
