import { createHash } from "node:crypto";
import { errorCode, refusal } from "../http/refusal.ts";
import type { Interval } from "../records/billing.ts";
import type { World } from "../world.ts";
import { meterOf } from "./meters.ts";

export const oneDay = 86_400_000;
const oneHour = 3_600_000;

/** A span of time; `to` is exclusive. */
export interface Span {
  from: number;
  to: number;
}

const wrong = (what: string, form: string) => refusal(422, errorCode.validation, `[${what}] must be ${form}`);

/** The month that a path names, `2026-11`. */
export function monthOf(text: string): Span {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined) throw wrong("period", "a month, for example 2026-11");
  return { from: Date.UTC(Number(year), Number(month) - 1), to: Date.UTC(Number(year), Number(month)) };
}

export const periodAt = (at: number) => new Date(at).toISOString().slice(0, 7);
export const dateAt = (at: number) => new Date(at).toISOString().slice(0, 10);

/** The day that a path names, `2026-11-16`. */
export function dayOf(text: string): Span {
  const from = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(from) || dateAt(from) !== text) throw wrong("date", "a day, for example 2026-11-16");
  return { from, to: from + oneDay };
}

/** The days of a span, the first and the last as far as they are in it. */
export function* daysIn({ from, to }: Span): Generator<Span> {
  for (let day = from; day < to; ) {
    const next = Math.min(to, Math.floor(day / oneDay) * oneDay + oneDay);
    yield { from: day, to: next };
    day = next;
  }
}

/** The part of an interval that lies in a span; undefined: none. */
export function clipped(interval: Interval, { from, to }: Span, now: number): Span | undefined {
  const part = { from: Math.max(from, interval.from), to: Math.min(to, interval.to ?? now, now) };
  return part.from < part.to ? part : undefined;
}

/** Bytes that a NIC sent or received in a span: a few gigabytes a day, always the same for the same day. */
export function bytesOf({ id }: Interval, direction: "In" | "Out", span: Span): number {
  let bytes = 0;
  for (const { from, to } of daysIn(span)) {
    const draw = createHash("sha256")
      .update(`${id}/${dateAt(from)}/${direction}`)
      .digest()
      .readUInt32BE();
    bytes += Math.round((500_000_000 + draw) * ((to - from) / oneDay));
  }
  return bytes;
}

/** How much of its meter an interval has counted in a span. */
export function quantityOf(interval: Interval, span: Span): number {
  const { unit } = meterOf(interval.meterId);
  if (unit === "1GB") return bytesOf(interval, interval.meterId === "TI1000" ? "In" : "Out", span) / 1e9;
  if (unit === "1M tokens") return (interval.amount * share(interval, span)) / 1e6;
  return (interval.amount * (span.to - span.from)) / oneHour;
}

/** Which part of an interval that has ended lies in a span. */
const share = ({ from, to }: Interval, span: Span) => (to === null ? 1 : (span.to - span.from) / (to - from));

export interface Counted {
  interval: Interval;
  part: Span;
  quantity: number;
}

/** Everything that was counted in a span, until now. */
export function countedIn({ billing, clock }: World, span: Span): Counted[] {
  const now = clock.now();
  return [...billing.intervals()].flatMap((interval) => {
    const part = clipped(interval, span, now);
    return part === undefined ? [] : [{ interval, part, quantity: quantityOf(interval, part) }];
  });
}

/** Resources in no datacenter are listed under this one. */
export const contractWide = {
  id: "00000000-0000-0000-0000-000000000000",
  name: "Contract resources",
  location: "",
};

export interface Place {
  id: string;
  name: string;
  location: string;
}

/** Groups by datacenter, in the order of the first interval of each. */
export function byPlace(counted: readonly Counted[]): { place: Place; counted: Counted[] }[] {
  const groups = Map.groupBy(counted, ({ interval }) => interval.datacenter?.id ?? contractWide.id);
  return [...groups.values()].map((group) => ({
    place: group.at(-1)?.interval.datacenter ?? contractWide,
    counted: group,
  }));
}

/** Sums by meter, in the order of their ids. */
export function byMeter(counted: readonly Counted[]): { meterId: string; quantity: number }[] {
  const groups = Map.groupBy(counted, ({ interval }) => interval.meterId);
  return [...groups]
    .map(([meterId, group]) => ({ meterId, quantity: sum(group.map(({ quantity }) => quantity)) }))
    .sort((a, b) => (a.meterId < b.meterId ? -1 : 1));
}

export const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
export const rounded = (value: number, digits: number) => Number(value.toFixed(digits));
