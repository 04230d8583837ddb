import { isIPv4 } from "node:net";
import { z } from "zod";
import { numberIn, type Properties } from "../store/resource.ts";

export const ipv4 = z.string().refine(isIPv4, "must be an IPv4 address");
export const cidr = z.cidrv4("must be an IPv4 address with the length of its network, such as 10.0.1.0/24");
export const addressOrNetwork = z.union(
  [z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()],
  "must be an address or a network such as 10.0.1.0/24",
);
export const mac = z.string().regex(/^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$/, "must be a MAC address");
export const port = z.int().min(1).max(65_535);
export const milliseconds = z.int().min(0);

/** A field with a default, for null and for a field that is left out. */
export const withDefault = <T>(schema: z.ZodType<T>, value: T) =>
  schema.nullish().transform((given): T => given ?? value);

export const algorithm = z.enum(["ROUND_ROBIN", "LEAST_CONNECTION", "RANDOM", "SOURCE_IP"]);
export const weight = z.int().min(0).max(256);
export const target = {
  ip: ipv4,
  port,
  proxyProtocol: withDefault(z.enum(["none", "v1", "v2", "v2ssl"]), "none"),
};

const icmp = z.int().min(0).max(254).nullish();

export const firewallRuleSchema = z.object({
  name: z.string().nullish(),
  protocol: z.enum(["TCP", "UDP", "ICMP", "ICMPv6", "GRE", "VRRP", "ESP", "AH", "ANY"]),
  type: z.enum(["INGRESS", "EGRESS"]).nullish(),
  sourceMac: mac.nullish(),
  sourceIp: addressOrNetwork.nullish(),
  targetIp: addressOrNetwork.nullish(),
  ipVersion: z.enum(["IPv4", "IPv6"]).nullish(),
  icmpType: icmp,
  icmpCode: icmp,
  portRangeStart: port.nullish(),
  portRangeEnd: port.nullish(),
});

export const flowLogSchema = z.object({
  name: z.string().min(1),
  action: z.enum(["ACCEPTED", "REJECTED", "ALL", "ANY"]),
  direction: z.enum(["INGRESS", "EGRESS", "BIDIRECTIONAL"]),
  bucket: z.string(),
});

/** Ports come as a range, both ends or none, for the protocols that have ports. */
export function checkPorts(rule: Properties, fault: (property: string, message: string) => void): void {
  const start = numberIn(rule, "portRangeStart");
  const end = numberIn(rule, "portRangeEnd");
  if (start === undefined && end === undefined) return;
  if (start === undefined) fault("portRangeStart", "is needed together with portRangeEnd");
  else if (end === undefined) fault("portRangeEnd", "is needed together with portRangeStart");
  else if (end < start) fault("portRangeEnd", "must not be smaller than portRangeStart");
  if (rule.protocol !== "TCP" && rule.protocol !== "UDP") {
    fault("portRangeStart", "is for the protocols TCP and UDP only");
  }
}

/** The first words of the formats that a first boot understands. */
const beginnings = ["#cloud-config", "#!", "Content-Type:", "MIME-Version:", "#include", "#upstart-job"];

/** First-boot configuration, in base64. */
export const userData = z.base64({ error: "must be base64", abort: true }).refine(
  (given) => {
    const text = Buffer.from(given, "base64").toString();
    return beginnings.some((each) => text.startsWith(each));
  },
  `must begin, once decoded, with one of ${beginnings.join(", ")}`,
);

export const needsCloudInit = "needs an image with cloud-init (cloudInit V1)";

export const imagePassword = z
  .string()
  .regex(/^[A-Za-z0-9]{8,}$/, "must have at least 8 characters of A-Z, a-z and 0-9");
