const DAY_MS = 86_400_000;

/** How long something is valid, in whole days: changes once a day, so that a status is not written more often for it. */
export function daysLeft(expiresAt: number, now: number): string {
  const days = Math.floor((expiresAt - now) / DAY_MS);
  if (days < 0) return "expired";
  return days === 0 ? "<1d" : `${days}d`;
}
