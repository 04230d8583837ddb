import { z } from "zod";
import type { Mention } from "../kind.ts";

/** Addresses that mean something in their own network only: anybody may use them in a LAN. */
const local = /^(10\.\d+|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])|169\.254|172\.(1[6-9]|2\d|3[01])|192\.168)\.\d+\.\d+$/;

const block = z.object({ ips: z.array(z.string()) });

/** A public address comes out of an IP block. */
export const addressMentions = (addresses: readonly string[] = [], field: string): Mention[] =>
  addresses
    .filter((value) => !local.test(value))
    .map((value) => {
      const isIn = (status: unknown) => block.safeParse(status).data?.ips.includes(value) ?? false;
      return { field, value, part: { kind: "IPBlock", isIn } };
    });
