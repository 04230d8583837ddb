import { z } from "zod";
import { ipv4, otherwise, port } from "../network/fields.ts";

/** What load balancing has in common, whether the targets are in a forwarding rule or in a target group. */

export const algorithm = z.enum(["ROUND_ROBIN", "LEAST_CONNECTION", "RANDOM", "SOURCE_IP"]);
export const weight = z.int().min(0).max(256);
export const target = {
  ip: ipv4,
  port,
  proxyProtocol: otherwise(z.enum(["none", "v1", "v2", "v2ssl"]), "none"),
};
