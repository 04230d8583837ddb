import { BlockList, isIPv4 } from "node:net";
import { z } from "zod";

/** The platform's own network: brokers cannot have addresses in it. */
const reserved = new BlockList();
reserved.addSubnet("10.224.0.0", 11);

const brokers = 3;
const cidrRule = "must be an IPv4 address with its prefix length, such as 192.168.1.101/24";

interface Cidr {
  address: string;
  /** Equal for addresses of the same subnet: its number and its prefix length. */
  subnet: string;
}

function cidrIn(text: string): Cidr | undefined {
  const [, address = "", prefix = ""] = /^([\d.]+)\/(\d{1,2})$/.exec(text) ?? [];
  const bits = Number(prefix);
  if (!isIPv4(address) || bits < 1 || bits > 30) return undefined;
  const size = 2 ** (32 - bits);
  const number = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const place = number % size;
  // The first address of a subnet is the network, the last one the broadcast address.
  if (place === 0 || place === size - 1) return undefined;
  return { address, subnet: `${Math.floor(number / size)}/${bits}` };
}

const addressesSchema = z
  .array(z.string({ error: cidrRule }))
  .length(brokers, `must have ${brokers} addresses, one per broker`)
  .superRefine((texts, context) => {
    const fault = (index: number, message: string) => context.addIssue({ code: "custom", path: [index], message });
    const first = cidrIn(texts[0] ?? "");
    for (const [index, text] of texts.entries()) {
      const cidr = cidrIn(text);
      if (cidr === undefined) fault(index, `${cidrRule}, and be one that a broker can have`);
      else if (reserved.check(cidr.address)) fault(index, "must not be inside 10.224.0.0/11");
      else if (first !== undefined && cidr.subnet !== first.subnet) fault(index, "must be of the subnet of the first");
      else if (texts.indexOf(text) !== index) fault(index, "must be another address than those before it");
    }
  });

/** The resources that a connection may name. */
export interface Network {
  hasDatacenter(id: string): boolean;
  hasLan(datacenterId: string, lanId: string): boolean;
}

/** Where the brokers of a cluster lie: exactly one LAN. */
export const connectionsSchema = ({ hasDatacenter, hasLan }: Network) =>
  z
    .array(
      z
        .object({
          datacenterId: z.string().refine(hasDatacenter, "names no datacenter"),
          lanId: z.string().regex(/^\d+$/, "must be the number of a LAN, as text"),
          brokerAddresses: addressesSchema,
        })
        .refine(({ datacenterId, lanId }) => !hasDatacenter(datacenterId) || hasLan(datacenterId, lanId), {
          path: ["lanId"],
          message: "names no LAN of the datacenter",
        }),
    )
    .length(1, "must have exactly one connection");
