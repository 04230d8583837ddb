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

const ADDRESS_OR_NETWORK = "must be an IP address or a network, for example 10.0.1.0/24";

/** An address or a network, of either version of IP. */
export const addressOrNetwork = () =>
  z
    .string()
    .max(49)
    .meta({
      "x-kubernetes-validations": [
        { rule: "isIP(self) || isCIDR(self)", message: ADDRESS_OR_NETWORK },
        {
          rule: "!isCIDR(self) || cidr(self) == cidr(self).masked()",
          message: "must be the first address of the network, for example 10.0.1.0/24 instead of 10.0.1.7/24",
        },
      ],
    });

/** IPv6 can be written in many ways; all else is left as it is. */
export function oneSpelling(written: string | null | undefined): string | undefined {
  const [address = "", length] = written?.split("/") ?? [];
  if (!address.includes(":")) return written ?? undefined;
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  return length === undefined ? canonical : `${canonical}/${length}`;
}
