import type { Route } from "../http/exchange.ts";

/** The call that makes a token: a read, in the platform's interface. */
export const minting = "/auth/v1/tokens/generate";

/** Who reads these would be in them without end. */
const logs = /^\/(activitylog|cloudapi\/v6\/requests)(\/|$)/;

/** How a call is noted in the activity log, if at all. A model is asked with POST, and that is a read. */
export function notedAs({ method, template, access }: Route): "change" | "read" | undefined {
  if (access !== "user") return undefined;
  if (template.startsWith("/inference/")) return "read";
  if (method !== "GET" || template === minting) return "change";
  return logs.test(template) ? undefined : "read";
}
