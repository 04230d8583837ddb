import { z } from "zod";

export const maintenanceWindow = z.object({
  dayOfTheWeek: z.enum(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]),
  time: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?Z?$/, "must be a time of day such as 03:00:00Z"),
});

/** What the platform chooses for whom it is all the same. */
export const anyWindow: z.infer<typeof maintenanceWindow> = { dayOfTheWeek: "Sunday", time: "03:00:00Z" };
