import { accountChecks } from "./account-checks.ts";
import { type Check, type Examined, examine } from "./check.ts";
import { clusterChecks, operatorChecks } from "./cluster-checks.ts";
import { rightsChecks } from "./rights-checks.ts";

/** Checks everything that objects need to become Ready. */
export async function doctor(examined: Examined) {
  const checks: Check[] = await clusterChecks(examined);
  // Without a cluster there is nothing else to check.
  if (checks[0]?.status !== "fail") {
    checks.push(...(await rightsChecks(examined)));
    checks.push(...(await operatorChecks(examined)));
    checks.push(...(await examine(examined, "account", "Accounts", () => accountChecks(examined))));
  }
  const count = (status: Check["status"]) => checks.filter((each) => each.status === status).length;
  const { version } = examined;
  return {
    ...(version !== undefined && { version }),
    checks,
    ok: count("ok"),
    warn: count("warn"),
    fail: count("fail"),
  };
}
