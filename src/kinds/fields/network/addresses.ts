import { z } from "zod";
import type { Mention } from "../../desired.ts";

/** Private addresses: valid only within their own network, so anybody may use them in a LAN. */
const local = /^(10\.\d+|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])|169\.254|172\.(1[6-9]|2\d|3[01])|192\.168)\.\d+\.\d+$/;

const block = z.object({ ips: z.array(z.string()) });

/** Public addresses must come from an IPBlock. */
export const addressMentions = (addresses: readonly string[] = [], field: string): Mention[] =>
  addresses
    .filter((value) => !local.test(value))
    .map((value) => {
      const isIn = (status: unknown) => block.safeParse(status).data?.ips.includes(value) ?? false;
      return { field, value, part: { kind: "IPBlock", isIn } };
    });

const IPV6 = "must be an IPv6 address, for example 2001:db8::7";

export const ipv6Address = () =>
  z
    .string()
    .max(45)
    .refine((address) => z.ipv6().safeParse(address).success, IPV6)
    .meta({ "x-kubernetes-validations": [{ rule: "isIP(self) && ip(self).family() == 6", message: IPV6 }] });

const isBlock = (block: string, length: number) => block.endsWith(`/${length}`) && z.cidrv6().safeParse(block).success;

/** An IPv6 block of this prefix length, or one of the keywords for it. */
export function ipv6Block(length: number, words: readonly string[], example: string) {
  const form = `must be ${[...words, `a /${length} block`].join(" or ")}, for example ${example}/${length}`;
  const block = `isCIDR(self) && cidr(self).ip().family() == 6 && cidr(self).prefixLength() == ${length}`;
  const rule = words.length > 0 ? `${words.map((word) => `self == '${word}'`).join(" || ")} || (${block})` : block;
  return z
    .string()
    .max(49)
    .refine((value) => words.includes(value) || isBlock(value, length), form)
    .meta({ "x-kubernetes-validations": [{ rule, message: form }] });
}

const ADDRESS_OR_NETWORK = "must be an IP address or a network, for example 10.0.1.0/24";

/** An IP address or a network, IPv4 or IPv6. */
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

/** The canonical form of an IPv6 address, which can be written in many ways. Other text is returned unchanged. */
export function oneSpelling(written: string | null | undefined): string | undefined {
  const [address = "", length] = written?.split("/") ?? [];
  if (!address.includes(":")) return written ?? undefined;
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  return length === undefined ? canonical : `${canonical}/${length}`;
}
