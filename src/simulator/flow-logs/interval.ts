import { type Resource, textIn } from "../store/resource.ts";
import type { Interface } from "./interface.ts";
import { type Flow, recordOf, skipped } from "./record.ts";
import { createDice, trafficOf } from "./traffic.ts";

/** Flow logs begin a new object at :00, :10 and so on. */
export const intervalMs = 10 * 60 * 1000;

/** Begin of the interval that an instant lies in. */
export const intervalOf = (at: number) => Math.floor(at / intervalMs) * intervalMs;

/** Where an interval of a flow log is written: `bucket` is a name, or a name and a prefix for the keys. */
export function placeOf({ id, properties }: Resource, begin: number): { bucket: string; key: string } {
  const [bucket = "", ...prefix] = (textIn(properties, "bucket") ?? "").split("/");
  const stamp = new Date(begin).toISOString().replace(/[-:]|\.\d+/g, "");
  return { bucket, key: `${prefix.join("/")}${textIn(properties, "name")}-${id}-${stamp}.log.gz` };
}

/** One interval in this many has lost some records. */
const lossyOneIn = 50;

export interface Part {
  begin: number;
  /** Only flows that ended by this instant: the interval may not be over. */
  until: number;
}

/**
 * The text of an interval. The traffic follows from the seed, the flow log and the number of the interval, so that
 * every run has the same traffic; a later `until` only adds to it.
 */
export function textOf(seed: number, contractNumber: number, log: Resource, face: Interface, part: Part): string {
  const ordinal = (part.begin - intervalOf(log.createdAt)) / intervalMs;
  const dice = createDice(seed, `flow-log/${log.id}/${ordinal}`);
  const [from, to] = [part.begin / 1000, (part.begin + intervalMs) / 1000];
  const lossy = dice.between(1, lossyOneIn) === lossyOneIn;
  const action = textIn(log.properties, "action");
  const direction = textIn(log.properties, "direction");
  const wanted = (flow: Flow) =>
    (action === "ALL" || action === `${flow.action}ED`) &&
    (direction === "BIDIRECTIONAL" || direction === directionOf(face, flow)) &&
    flow.start * 1000 >= log.createdAt &&
    flow.end * 1000 <= part.until;
  const flows = trafficOf(face, from, to, dice).filter(() => !lossy || dice.fraction() < 0.5);
  const lines = flows.filter(wanted).map((flow) => recordOf(contractNumber, face.id, flow));
  if (lossy && part.until >= part.begin + intervalMs) {
    const gap = skipped(from, to, action === "REJECTED" ? "REJECT" : "ACCEPT");
    lines.push(recordOf(contractNumber, face.id, gap, "SKIPDATA"));
  }
  return lines.map((line) => `${line}\n`).join("");
}

const directionOf = ({ addresses }: Interface, { target }: Flow) => (addresses.includes(target) ? "INGRESS" : "EGRESS");
