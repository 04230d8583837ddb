const DAY_MS = 86_400_000;

/** The time left in whole days, so that status changes at most once a day. */
export function daysLeft(expiresAt: number, now: number): string {
  const days = Math.floor((expiresAt - now) / DAY_MS);
  if (days < 0) return "expired";
  return days === 0 ? "<1d" : `${days}d`;
}

/** The first names, and how many more there are. */
export function several(names: readonly string[], most = 5): string {
  const shown = names.slice(0, most).join(", ");
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

/** The text without these characters at its end. A pattern would take quadratic time for a long answer that is made for that. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}

/** How much of a value an Event shows. */
const LENGTH = 80;

export const shortened = (value: string): string =>
  value === "" ? "empty" : value.length > LENGTH ? `${value.slice(0, LENGTH)}…` : value;
