const DAY_MS = 86_400_000;

/** In whole days, so that a status is not written more than once a day for it. */
export function daysLeft(expiresAt: number, now: number): string {
  const days = Math.floor((expiresAt - now) / DAY_MS);
  if (days < 0) return "expired";
  return days === 0 ? "<1d" : `${days}d`;
}
