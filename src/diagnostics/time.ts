const UNIT_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const DURATION = /^(\d{1,9}[smhdw])+$/;
const TIME = /^\d{4}-\d{2}-\d{2}(?<clock>T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** The time that a flag names, in milliseconds: a duration before now, or a timestamp; undefined if it is neither. */
export function momentOf(text: string, now: number): number | undefined {
  if (DURATION.test(text)) {
    const parts = text.matchAll(/(\d+)([smhdw])/g);
    return parts.reduce((moment, [, amount, unit = ""]) => moment - Number(amount) * (UNIT_MS[unit] ?? 0), now);
  }
  const time = TIME.exec(text);
  if (!time) return undefined;
  // Date.parse reads a date alone as UTC. Without a time zone, users mean their local one.
  const moment = Date.parse(time.groups?.clock === undefined ? `${text}T00:00` : text);
  return Number.isNaN(moment) ? undefined : moment;
}

const two = (value: number) => String(value).padStart(2, "0");

/** A time in seconds since the epoch, in the local time zone: 2026-03-01T10:00:00+01:00. */
export function localTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  const offset = -date.getTimezoneOffset();
  const minutes = Math.abs(offset);
  const zone = `${offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  const day = `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}${zone}`;
}
