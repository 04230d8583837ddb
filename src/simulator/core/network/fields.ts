import { isIPv4 } from "node:net";
import { z } from "zod";

/** Fields that several kinds of the network have. */

export const ipv4 = z.string().refine(isIPv4, "must be an IPv4 address");
export const cidr = z.cidrv4("must be an IPv4 address with the length of its network, such as 10.0.1.0/24");
export const addressOrNetwork = z.union(
  [z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()],
  "must be an address or a network such as 10.0.1.0/24",
);
export const mac = z.string().regex(/^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$/, "must be a MAC address");
export const port = z.int().min(1).max(65_535);
export const milliseconds = z.int().min(0);

/** A field inside a list or an object; left out and null mean the same. */
export const otherwise = <T>(schema: z.ZodType<T>, value: T) =>
  schema.nullish().transform((given): T => given ?? value);
