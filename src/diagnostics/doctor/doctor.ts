import { accountChecks } from "./account-checks.ts";
import { type Check, type DoctorInput, examine } from "./check.ts";
import { clusterChecks, operatorChecks } from "./cluster-checks.ts";
import { rightsChecks } from "./rights-checks.ts";

/** Checks everything that objects need to become Ready. */
export async function doctor(input: DoctorInput) {
  const checks: Check[] = await clusterChecks(input);
  // Without a cluster there is nothing else to check.
  if (checks[0]?.status !== "fail") {
    checks.push(...(await rightsChecks(input)));
    checks.push(...(await operatorChecks(input)));
    checks.push(...(await examine(input, "account", "Accounts", () => accountChecks(input))));
  }
  const count = (status: Check["status"]) => checks.filter((each) => each.status === status).length;
  const { version } = input;
  return {
    ...(version !== undefined && { version }),
    checks,
    ok: count("ok"),
    warn: count("warn"),
    fail: count("fail"),
  };
}
