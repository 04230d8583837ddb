import { z } from "zod";

export const licenceType = z
  .enum(["UNKNOWN", "WINDOWS", "WINDOWS2016", "WINDOWS2019", "WINDOWS2022", "WINDOWS2025", "RHEL", "LINUX", "OTHER"])
  .optional()
  .describe("Licence of the operating system. Required for an empty volume.");
