/** A fixed amount of something, shared by owners that do not trust each other. */
export interface FairPool {
  /** Takes an amount for the owner; false when it gets none. */
  take(owner: string, amount?: number): boolean;
  giveBack(owner: string, amount?: number): void;
  readonly held: number;
  heldBy(owner: string): number;
}

/**
 * An owner may hold no more than what is still free: the first gets at most half, the next half of the rest. So a few greedy
 * owners do not shut out others.
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
