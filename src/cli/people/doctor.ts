import { readFileSync } from "node:fs";
import { fail } from "../../diagnostics/doctor/check.ts";
import { doctor as examineAll } from "../../diagnostics/doctor/doctor.ts";
import { type Context, command } from "../frame/command.ts";
import { clusterFlags, everywhereFlag, platformFlags, usualOutput } from "../frame/flags.ts";
import { bold, green, grey, red, type Text, yellow } from "../frame/text.ts";

const FAILED_CHECK = 3;
const paints = { ok: green, warn: yellow, fail: red };
const flags = {
  ...clusterFlags,
  ...everywhereFlag,
  account: { ...platformFlags.account, help: "only this Account, or ClusterAccount/NAME; default: all" },
  platform: platformFlags.platform,
  ...usualOutput,
} as const;

export const doctor = command({
  name: "doctor",
  summary: "check cluster, CRDs, operator, rights and Accounts, each with its fix",
  usage: ["[-A] [OPTION…]"],
  description:
    "Checks the kubeconfig, the CRDs and their version, admission policies, your rights, the operator with its endpoints, leader and shards, and every Account: token, expiry, contract, endpoints, TLS, clocks, rate limits and privileges by kind. Each line is ok, warn or fail, with the fix. Changes nothing.",
  examples: [
    ["mooring doctor", "check everything that concerns the namespace"],
    ["mooring doctor -A -o json", "check all Accounts, for support"],
    ["mooring doctor --account main --platform ionos", "check one Account, whose endpoints are flags of the operator"],
  ],
  flags,
  exitCodes: { 0: "no check failed", 3: "a check failed" },
  async run(context) {
    const { screen, answer } = context;
    const found = await examined(context);
    answer(found, () => {
      let area = "";
      for (const each of found.checks) {
        if (each.area !== area) screen.line(bold(each.area));
        area = each.area;
        const fix: Text[] = each.fix === undefined ? [] : [grey(`  fix: ${each.fix}`)];
        screen.line("  ", paints[each.status](each.status.padEnd(5)), `${each.check}: ${each.message}`, ...fix);
      }
      screen.line(`${found.ok} ok, ${found.warn} warn, ${found.fail} fail; mooring ${found.version}`);
    });
    return found.fail > 0 ? FAILED_CHECK : 0;
  },
});

async function examined({
  cluster,
  sources,
  platform,
  namespace,
  signal,
  flags: given,
}: Context<keyof typeof flags & string>) {
  const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  try {
    return await examineAll({
      sources,
      cluster: await cluster(),
      platformOf: platform,
      namespace: await namespace(),
      account: given.text("account"),
      version: String(version),
    });
  } catch (error) {
    signal.throwIfAborted();
    const message = error instanceof Error ? error.message : String(error);
    const fix = "set --kubeconfig and --context, or KUBECONFIG";
    return { version: String(version), checks: [fail("cluster", "kubeconfig", message, fix)], ok: 0, warn: 0, fail: 1 };
  }
}
