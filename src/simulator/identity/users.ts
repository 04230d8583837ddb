import { z } from "zod";

export const userSchema = z.object({
  id: z.string(),
  username: z.string(),
  password: z.string(),
  role: z.enum(["owner", "administrator", "user"]),
  /** Accounts with two-factor authentication cannot use Basic credentials. */
  twoFactor: z.boolean(),
});

export type User = Readonly<z.infer<typeof userSchema>>;

/** What the JWT says its bearer may do. Every user of the simulator may do everything. */
export const privileges = [
  "DATA_CENTER_CREATE",
  "SNAPSHOT_CREATE",
  "IP_BLOCK_RESERVE",
  "FLOW_LOG_CREATE",
  "ACCESS_ACTIVITY_LOG",
  "ACCESS_AND_MANAGE_MONITORING",
  "ACCESS_AND_MANAGE_LOGGING",
  "ACCESS_AND_MANAGE_KAAS",
  "ACCESS_AND_MANAGE_AI_MODEL_HUB",
] as const;
