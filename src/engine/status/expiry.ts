const DAY_MS = 86_400_000;

/** The time left in whole days, so that status changes at most once a day. */
export function daysLeft(expiresAt: number, now: number): string {
  const days = Math.floor((expiresAt - now) / DAY_MS);
  if (days < 0) return "expired";
  return days === 0 ? "<1d" : `${days}d`;
}
