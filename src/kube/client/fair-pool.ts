/** A fixed amount of something that owners share who do not trust each other. */
export interface FairPool {
  /** Whether the owner got so much more of it. */
  take(owner: string, amount?: number): boolean;
  giveBack(owner: string, amount?: number): void;
  readonly held: number;
  heldBy(owner: string): number;
}

/**
 * An owner may hold as much as is still free, and no more: one alone gets half, the next one half of what is left. So a few
 * that take as much as they can do not shut out others.
 */
export function createFairPool(most: number): FairPool {
  const shares = new Map<string, number>();
  let held = 0;
  const heldBy = (owner: string) => shares.get(owner) ?? 0;
  return {
    get held() {
      return held;
    },
    heldBy,
    take(owner, amount = 1) {
      const own = heldBy(owner) + amount;
      if (own > most - held) return false;
      shares.set(owner, own);
      held += amount;
      return true;
    },
    giveBack(owner, amount = 1) {
      const own = heldBy(owner) - amount;
      if (own > 0) shares.set(owner, own);
      else shares.delete(owner);
      held -= amount;
    },
  };
}
