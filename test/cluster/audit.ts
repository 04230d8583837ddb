import { fileURLToPath } from "node:url";
import type { Audit } from "../../src/cli/control-plane/components.ts";
import { keptPath } from "../kept-output.ts";

const policy = fileURLToPath(new URL("audit-policy.yaml", import.meta.url));

/** What a control plane of the tests is to write down; nothing when nobody is going to read it. */
export function audit(): Audit | undefined {
  const log = keptPath("audit");
  return log === undefined ? undefined : { policy, log };
}
