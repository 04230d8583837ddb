import type { Count } from "./count.ts";

const port = "a whole number from 0 to 65535";
const count = "a whole number of 64 bits";
const time = "a time in seconds since 1970";

/** The fields of a record of version 2 in order, each with its expected value. */
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
 * One record of a flow log. The reader reuses a single object for all lines, so that reading creates no garbage: copy
 * the fields that you keep.
 *
 * Its texts contain only letters, digits and `- _ . :`, so they need no escaping on a terminal, in CSV or in JSON.
 */
export interface FlowRecord {
  readonly account: string;
  readonly interface: string;
  readonly srcaddr: string;
  readonly dstaddr: string;
  readonly srcport: number;
  readonly dstport: number;
  /** IANA protocol number. */
  readonly protocol: number;
  readonly packets: Count;
  readonly bytes: Count;
  /** Seconds since the epoch, not after `end`. */
  readonly start: number;
  readonly end: number;
  readonly action: Action;
  /** SKIPDATA: the platform skipped records in this interval, so the log is incomplete. */
  readonly status: "OK" | "SKIPDATA";
}
