import { writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { progressTo } from "../src/cli/control-plane/progress.ts";
import { startCluster } from "../src/cli/control-plane/start.ts";
import { kinds } from "../src/kinds/index.ts";
import type { Kind } from "../src/kinds/kind.ts";
import { connect } from "../src/kube/client/config.ts";
import { KubeError } from "../src/kube/client/errors.ts";
import { asItIs, type PlacedRule, rulesOf, type Variant, withOnly, withoutRules } from "./admission/variants.ts";
import { type Bench, costOf, dryCostOf, forget, type Operation, operations, serve } from "./admission/writes.ts";
import { processesIn } from "./scale/proc.ts";
import { median } from "./scale/table.ts";
import { say, untilQuiet } from "./scale/waiting.ts";

const usage = `usage: make bench ARGS="admission [OPTION…]"

CPU of the API server per write of an object, with the CRD as it is and with the same CRD without its CEL rules, in turns.

  --kinds LIST    kinds, or all (default Server)
  --rounds N      rounds; the median counts (default 5)
  --writes N      writes of each sort in a round (default 150)
  --rules         also what each rule costs: a CRD with nothing but copies of it, 20 at most; takes some seconds per rule
  --goal X        fail when the mean of all sorts is more than X times that without rules (default: never)
  --json FILE     also write all figures to FILE; - is stdout, instead of the table
  -h, --help      show this help`;

const { values } = parseArgs({
  options: {
    kinds: { type: "string", default: "Server" },
    rounds: { type: "string", default: "5" },
    writes: { type: "string", default: "150" },
    rules: { type: "boolean", default: false },
    goal: { type: "string" },
    json: { type: "string" },
    help: { type: "boolean", short: "h", default: false },
  },
});

const GOAL = 1.2;
/** Of a rule that the API server estimates to be too dear so often, there are fewer. */
const COPIES = [20, 5, 2, 1];
/** CRDs at once: each takes memory and, when it comes, CPU. */
const AT_ONCE = 10;

interface Measured {
  kind: string;
  rules: number;
  /** Milliseconds per write. */
  with: Record<Operation, number>;
  without: Record<Operation, number>;
  ratio: number;
}

interface RuleCost {
  kind: string;
  path: string;
  rule: string;
  /** Milliseconds per write. */
  cost: number;
}

async function measure(bench: Bench, kind: Kind, rounds: number, writes: number): Promise<Measured> {
  const variants: Variant[] = [asItIs(kind), withoutRules(kind)];
  for (const variant of variants) await serve(bench, variant);
  await untilQuiet(bench.apiserver);
  const costs = new Map<string, number[]>();
  const keyOf = (variant: Variant, operation: Operation) => `${variant.resource.group} ${operation}`;
  for (let round = 0; round <= rounds; round++) {
    const names = Array.from({ length: writes }, (_, index) => `bench-${round}-${index}`);
    for (const operation of operations) {
      for (const variant of round % 2 === 0 ? variants : variants.toReversed()) {
        const cost = await costOf(bench, variant, operation, names);
        const key = keyOf(variant, operation);
        // In the first round the API server compiles what it has never seen before.
        if (round > 0) costs.set(key, [...(costs.get(key) ?? []), cost]);
      }
    }
    if (round > 0) say(`${kind.kind}: round ${round} of ${rounds}`);
  }
  for (const variant of variants) await forget(bench, variant);
  const [ruled, bare] = variants.map((variant) => {
    const cost = (operation: Operation) => median(costs.get(keyOf(variant, operation)) ?? []);
    return { create: cost("create"), status: cost("status"), spec: cost("spec") };
  });
  if (!ruled || !bare) throw new Error("nothing was measured");
  const total = (each: Record<Operation, number>) => each.create + each.status + each.spec;
  return {
    kind: kind.kind,
    rules: rulesOf(kind).length,
    with: ruled,
    without: bare,
    ratio: total(ruled) / total(bare),
  };
}

/** What each rule costs, dearest first. */
async function measureRules(bench: Bench, kind: Kind, writes: number): Promise<RuleCost[]> {
  const found: RuleCost[] = [];
  // That of the other figures is still being deleted.
  const bare = withoutRules(kind, "bare.example.com");
  await serve(bench, bare);
  await costOf(bench, bare, "create", ["one"]);
  const all = rulesOf(kind);
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const some: { placed: PlacedRule; variant: Variant; copies: number }[] = [];
    for (const [index, placed] of all.slice(from, from + AT_ONCE).entries()) {
      some.push({ placed, ...(await serveCopies(bench, kind, placed, `rule-${from + index}.example.com`)) });
    }
    await untilQuiet(bench.apiserver);
    for (const { placed, variant, copies } of some) {
      const [before, cost, after] = [
        await dryCostOf(bench, bare, "one", writes),
        await dryCostOf(bench, variant, "one", writes),
        await dryCostOf(bench, bare, "one", writes),
      ];
      const one = { ...described(kind, placed), cost: (cost - (before + after) / 2) / copies };
      found.push(one);
      say(`${(1000 * one.cost).toFixed(0)} µs ${one.path}: ${one.rule.slice(0, 60)}`);
    }
    for (const { variant } of some) await forget(bench, variant);
    say(`${kind.kind}: ${found.length} of ${all.length} rules`);
  }
  await forget(bench, bare);
  return found.toSorted((a, b) => b.cost - a.cost);
}

/** As many copies of a rule as the API server admits. */
async function serveCopies(bench: Bench, kind: Kind, placed: PlacedRule, group: string) {
  for (const copies of COPIES) {
    const variant = withOnly(kind, placed, copies, group);
    try {
      await serve(bench, variant);
    } catch (error) {
      if (copies > 1 && error instanceof KubeError && error.status === 422) continue;
      throw error;
    }
    await costOf(bench, variant, "create", ["one"]);
    return { variant, copies };
  }
  throw new Error("a rule was admitted neither alone nor several times");
}

const described = (kind: Kind, { path, rule }: PlacedRule) => ({
  kind: kind.kind,
  path: path.join(".").replaceAll(".[]", "[]") || "(root)",
  rule: String(rule.message ?? rule.rule),
});

function tell(measured: readonly Measured[], costs: readonly RuleCost[]): void {
  console.log("CPU of the API server per write, in ms: with the rules of the CRD / without any\n");
  for (const each of measured) {
    const parts = operations.map(
      (operation) => `${operation} ${each.with[operation].toFixed(1)} / ${each.without[operation].toFixed(1)}`,
    );
    const verdict = each.ratio <= GOAL ? "met" : "missed";
    console.log(
      `${each.kind}, ${each.rules} rules: ${parts.join(", ")}; ratio ${each.ratio.toFixed(2)}, goal ≤ ${GOAL}: ${verdict}`,
    );
  }
  if (costs.length > 0) console.log("\nCPU per rule and write, in µs\n");
  for (const { kind, path, rule, cost } of costs) {
    console.log(`${(1000 * cost).toFixed(0).padStart(6)}  ${kind} ${path}: ${rule.slice(0, 90)}`);
  }
}

function chosenKinds(list: string): Kind[] {
  if (list === "all") return [...kinds];
  return list.split(",").map((name) => {
    const kind = kinds.find((each) => each.kind === name.trim());
    if (!kind)
      throw new Error(`--kinds: "${name}" is unknown; valid: all, ${kinds.map((each) => each.kind).join(", ")}`);
    return kind;
  });
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const chosen = chosenKinds(values.kinds);
  const progress = progressTo(process.stderr);
  await using cleanup = new AsyncDisposableStack();
  const cluster = await startCluster({ onProgress: progress.update });
  progress.end();
  cleanup.defer(cluster.stop);
  const client = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "bench" });
  cleanup.defer(() => client.close());
  const apiserver = processesIn(dirname(cluster.kubeconfig)).get("kube-apiserver");
  if (apiserver === undefined) throw new Error("the API server is not among the processes of this machine");
  const bench: Bench = { client, apiserver };
  const measured: Measured[] = [];
  const costs: RuleCost[] = [];
  for (const kind of chosen) {
    measured.push(await measure(bench, kind, Number(values.rounds), Number(values.writes)));
    if (values.rules) costs.push(...(await measureRules(bench, kind, Number(values.writes))));
  }
  const json = `${JSON.stringify({ at: new Date().toISOString(), measured, costs }, null, 2)}\n`;
  if (values.json === "-") process.stdout.write(json);
  else {
    if (values.json !== undefined) writeFileSync(values.json, json);
    tell(measured, costs);
  }
  const goal = values.goal === undefined ? Number.POSITIVE_INFINITY : Number(values.goal);
  return measured.every(({ ratio }) => ratio <= goal) ? 0 : 1;
}

// The control plane ends with this process, however that ends.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
process.exitCode = await main().catch((error: unknown) => {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  return 1;
});
