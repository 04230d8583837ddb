import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chosenKinds } from "../crash/lives/lives.ts";
import { startRewindable } from "../crash/restore/rewindable.ts";
import provideProgram from "../run/program.ts";
import { sendHostileManifests } from "./disturbances/hostile.ts";
import { soakedKinds } from "./population.ts";
import { soak } from "./soak.ts";
import { totals } from "./verdict.ts";
import { year } from "./year.ts";

const usage = `usage: make soak ARGS="[OPTION…]"

Edits, deletes and creates objects of all kinds in four namespaces, two of which share a ClusterAccount, while one call
to the platform in four goes wrong, people work on the platform by hand, Accounts are edited and get the
token of another user, the signing key is deleted, and two operators whose clocks differ take over from each
other. Then waits for rest, restores etcd from a backup of the middle, applies everything again, does what the
messages say, and waits for rest once more.
Before that, sends generated manifests, valid and hostile, and looks at how the operator bears them.

  --year          instead of all this, let Accounts with passwords, tokens and a certificate live for a year
  --days N        that long instead (default 365)
  --minutes N     how long everything goes wrong (default 10)
  --objects N     how many objects (default 500)
  --kind KIND     only of this kind; may be repeated
  --manifests N   how many generated manifests; 0 for none (default 5000)
  --seed N        manifests, who is touched when, and which calls fail, follow from it (default 1)`;

const { values } = parseArgs({
  options: {
    year: { type: "boolean", default: false },
    days: { type: "string", default: "365" },
    minutes: { type: "string", default: "10" },
    objects: { type: "string", default: "500" },
    kind: { type: "string", multiple: true },
    manifests: { type: "string", default: "5000" },
    seed: { type: "string", default: "1" },
    help: { type: "boolean", short: "h", default: false },
  },
});

function number(flag: string, text: string): number {
  const value = Number(text);
  if (!(value >= 0)) throw new Error(`--${flag}: "${text}" is not a number from 0 on`);
  return value;
}

async function keep(log: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), "mooring-soak-")), "operator.log");
  await writeFile(file, log);
  return file;
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const minutes = number("minutes", values.minutes);
  const days = number("days", values.days);
  const objects = Math.ceil(number("objects", values.objects));
  const inhabited = chosenKinds(soakedKinds, values.kind);
  const count = Math.ceil(number("manifests", values.manifests));
  const seed = Math.ceil(number("seed", values.seed));
  const onProgress = (line: string) => console.error(line);
  await provideProgram();
  // Garbage collection removes the Secrets of objects that are gone; their successors wait for that.
  await using cluster = await startRewindable({ controllerManager: true });
  if (values.year) {
    const { problems, made, most, killed, log } = await year({
      kubeconfig: cluster.kubeconfig,
      days,
      seed,
      onProgress,
    });
    for (const problem of problems) console.log(problem);
    if (problems.length > 0) console.log(`log: ${await keep(log)}`);
    console.log(`${days} days: ${made} tokens made, at most ${most} of one object at a time, ${killed} kills`);
    console.log(`${problems.length} problems`);
    return problems.length > 0 ? 1 : 0;
  }
  const borne = count > 0 ? await sendHostileManifests(cluster.kubeconfig, { count, seed, onProgress }) : undefined;
  for (const complaint of borne?.complaints ?? []) console.log(`manifests: ${complaint}`);
  const { problems, done, deeds, calls, log, ...counts } = await soak({
    kubeconfig: cluster.kubeconfig,
    control: cluster,
    objects,
    kinds: inhabited,
    chaosMs: minutes * 60_000,
    seed,
    patienceMs: 600_000,
    onProgress,
  });
  for (const { fault, message } of problems) console.log(`${fault}: ${message}`);
  if (problems.length > 0) {
    const file = await keep(log);
    const only = values.kind?.map((kind) => ` --kind ${kind}`).join("") ?? "";
    const flags = `--minutes ${minutes} --objects ${objects}${only} --seed ${seed}`;
    console.log(`log: ${file}\nagain: make soak ARGS="${flags}"`);
  }
  const { created, edited, deleted } = done;
  console.log(`${created} created, ${edited} edited, ${deleted} deleted, ${calls} platform calls`);
  const { attached, renamed, removed, lans } = deeds;
  console.log(`by hand: ${attached} volumes attached, ${renamed} renamed, ${removed} removed, ${lans} LANs added`);
  const { killed, stopped, accountEdits, keyLosses, restores, adviceFollowed } = counts;
  console.log(`${killed} leaders killed, ${stopped} stopped, ${accountEdits} Account edits, ${keyLosses} key losses`);
  console.log(`${restores} restore of etcd, after which ${adviceFollowed} objects needed what their message says`);
  if (borne) {
    const { accepted, refused, heapRatio } = borne;
    console.log(`${count} manifests: ${accepted} accepted, ${refused} refused, heap x${heapRatio.toFixed(2)}`);
  }
  console.log(totals(objects, problems));
  return problems.length + (borne?.complaints.length ?? 0) > 0 ? 1 : 0;
}

// After restarts of the API server, Node may not end by itself: it waits for sockets in its own cleanup.
process.exit(await main());
