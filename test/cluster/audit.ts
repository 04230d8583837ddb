import { fileURLToPath } from "node:url";
import type { Audit } from "../../src/cli/control-plane/components.ts";
import { keptPath } from "../run/kept-output.ts";

const policy = fileURLToPath(new URL("audit-policy.yaml", import.meta.url));

/** The audit settings of a control plane in tests; undefined if nobody reads the log. */
export function audit(): Audit | undefined {
  const log = keptPath("audit");
  return log === undefined ? undefined : { policy, log };
}
