import { isPaused, type MooringObject } from "../../../diagnostics/objects.ts";
import { readStatus } from "../../../engine/status/status.ts";
import { green, grey, red, type Text, yellow } from "../../frame/text.ts";

/** The state of an object, worst first. */
export const statuses = ["Stalled", "Reconciling", "Paused", "Ready"] as const;
export type Status = (typeof statuses)[number];

export function statusOf(each: MooringObject): Status {
  const { conditions = [] } = readStatus(each.object);
  const holds = (type: string) => conditions.some((each) => each.type === type && each.status === "True");
  if (holds("Stalled")) return "Stalled";
  if (holds("Ready")) return isPaused(each) ? "Paused" : "Ready";
  return isPaused(each) ? "Paused" : "Reconciling";
}

const paints: Record<Status, (text: string) => Text> = {
  Stalled: red,
  Reconciling: yellow,
  Paused: grey,
  Ready: green,
};
export const painted = (status: Status, text: string): Text => paints[status](text);

const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
  ["s", 1],
] as const;

/** An age like kubectl's: two units at most. */
export function age(from: string | undefined, now: number): string {
  const at = Date.parse(from ?? "");
  if (Number.isNaN(at)) return "";
  let seconds = Math.max(0, Math.floor((now - at) / 1000));
  const first = units.findIndex(([, size]) => seconds >= size);
  if (first < 0) return "0s";
  return units
    .slice(first, first + 2)
    .map(([unit, size]) => {
      const amount = Math.floor(seconds / size);
      seconds -= amount * size;
      return amount === 0 ? "" : `${amount}${unit}`;
    })
    .join("");
}
