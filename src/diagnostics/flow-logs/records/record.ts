import type { Count } from "./count.ts";

const port = "a whole number from 0 to 65535";
const count = "a whole number of 64 bits";
const time = "a time in seconds since 1970";

/** The fields of a record of version 2, in their order on the line, and what each has to be. */
export const FIELDS = [
  ["version", "2"],
  ["account-id", "an id of letters, digits and - _ . :"],
  ["interface-id", "an id of letters, digits and - _ . :"],
  ["srcaddr", "an IPv4 or IPv6 address"],
  ["dstaddr", "an IPv4 or IPv6 address"],
  ["srcport", port],
  ["dstport", port],
  ["protocol", "a whole number from 0 to 255"],
  ["packets", count],
  ["bytes", count],
  ["start", time],
  ["end", `${time}, not before start`],
  ["action", "ACCEPT or REJECT"],
  ["log-status", "OK or SKIPDATA"],
] as const;

export type Action = "ACCEPT" | "REJECT";

/**
 * One record of a flow log. The reader has a single one that each line fills anew, so that reading leaves no garbage
 * behind: whoever wants to keep something of it copies that.
 *
 * Its texts hold nothing but letters, digits and `- _ . :`, and so can go to a terminal, into CSV and into JSON as they
 * are.
 */
export interface FlowRecord {
  readonly account: string;
  readonly interface: string;
  readonly srcaddr: string;
  readonly dstaddr: string;
  readonly srcport: number;
  readonly dstport: number;
  /** IANA number. */
  readonly protocol: number;
  readonly packets: Count;
  readonly bytes: Count;
  /** Seconds since the epoch, not after `end`. */
  readonly start: number;
  readonly end: number;
  readonly action: Action;
  /** SKIPDATA: records were skipped in this interval, so what is there is not all there was. */
  readonly status: "OK" | "SKIPDATA";
}
