import { openBucket } from "../diagnostics/flow-logs/bucket.ts";
import { createFilter } from "../diagnostics/flow-logs/filter.ts";
import type { StoredObject } from "../diagnostics/flow-logs/listing.ts";
import { type FlowLogReadOptions, readFlowLogs, type Totals } from "../diagnostics/flow-logs/read.ts";
import { canMatter, isFlowLog, type Period } from "../diagnostics/flow-logs/selection.ts";
import { createTally } from "../diagnostics/flow-logs/top.ts";
import { sleep, systemClock } from "../runtime/clock.ts";
import { type Flags, parseFlags, UsageError, usage } from "./flowlogs/flags.ts";
import { recordFormats } from "./flowlogs/formats.ts";
import { findKeys } from "./flowlogs/keys.ts";
import { type Messages, messagesTo } from "./flowlogs/messages.ts";
import { nicsOf } from "./flowlogs/nics.ts";
import { type Output, outputTo } from "./flowlogs/output.ts";
import { topFormats } from "./flowlogs/top-formats.ts";
import { openPlatform, type PlatformAccess, withAccount } from "./platform-access.ts";

/** Poll interval with --follow. */
const FOLLOW_MS = 10_000;

/** `mooring flowlogs`: reads the flow logs of a bucket. */
export async function flowlogsCommand(argv: string[]): Promise<number> {
  const { stdout, stderr } = process;
  const ending = new AbortController();
  let broken: NodeJS.ErrnoException | undefined;
  try {
    const flags = parseFlags(argv, systemClock.now());
    if (flags.help) {
      console.log(usage);
      return 0;
    }
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => ending.abort());
    const output = outputTo(stdout, ending.signal, (error) => {
      broken = error;
      ending.abort();
    });
    // Records and a changing progress line would mix on one terminal.
    const progress = flags.tops.length > 0 || !stdout.isTTY;
    const messages = messagesTo(stderr, { progress, monotonic: systemClock.monotonic });
    return await flowlogs(flags, output, messages, ending.signal);
  } catch (error) {
    if (broken?.code === "EPIPE") return 0;
    if (broken) throw broken;
    if (ending.signal.aborted) return 130;
    if (!(error instanceof UsageError)) throw error;
    console.error(`mooring flowlogs: ${error.message}\nSee "mooring flowlogs --help".`);
    return 2;
  }
}

async function flowlogs(flags: Flags, output: Output, messages: Messages, signal: AbortSignal): Promise<number> {
  await using access = await openPlatform(await withAccount(flags.access));
  const endpoint = access.endpoint("objectStorage");
  const { env } = process;
  const keys = await findKeys(access, { create: flags.createKey, env, signal });
  const interfaces = await interfacesOf(flags, access, signal);
  await using bucket = openBucket({ endpoint, bucket: flags.bucket, keys, region: env.MOORING_S3_REGION });
  const source = {
    objects: () => bucket.list(flags.prefix, signal),
    open: bucket.open,
    filter: createFilter({ ...flags.criteria, interfaces }),
    signal,
    badLine: messages.badLine,
    badObject: messages.badObject,
  };
  const print = flags.tops.length > 0 ? printTops : printRecords;
  const totals = await print(flags, source, output, messages).finally(messages.clear);
  await output.end();
  messages.summary(totals);
  return totals.badLines + totals.badObjects > 0 ? 1 : 0;
}

/** The requested NICs; undefined for all. */
async function interfacesOf(flags: Flags, access: PlatformAccess, signal: AbortSignal) {
  if (flags.nics.length + flags.servers.length === 0) return undefined;
  const nics = new Set(flags.nics);
  for (const name of flags.servers) for (const id of await nicsOf(access, name, signal)) nics.add(id);
  return nics;
}

/** Flow logs that may have records of the period and were not read before. */
async function* selected(
  objects: AsyncIterable<StoredObject>,
  period: Period,
  known?: Set<string>,
): AsyncGenerator<StoredObject> {
  for await (const object of objects) {
    if (!isFlowLog(object) || !canMatter(object, period) || known?.has(object.key)) continue;
    known?.add(object.key);
    yield object;
  }
}

type Source = Omit<FlowLogReadOptions, "record" | "between" | "objects"> & { objects(): AsyncIterable<StoredObject> };

async function printRecords(flags: Flags, source: Source, output: Output, messages: Messages): Promise<Totals> {
  const format = recordFormats[flags.format]();
  let left = flags.limit;
  const known = new Set<string>();
  let all: Totals | undefined;
  for (;;) {
    const totals = await readFlowLogs({
      ...source,
      objects: selected(source.objects(), flags.criteria, flags.follow ? known : undefined),
      record(record) {
        if (left > 0) output.write(format.record(record));
        left -= 1;
      },
      async between(totals) {
        messages.progress(totals);
        await output.relax();
        return left > 0;
      },
    });
    all = all ? sumOf(all, totals) : totals;
    messages.clear();
    output.write(format.end());
    await output.end();
    if (!flags.follow || left <= 0) return all;
    await sleep(systemClock, FOLLOW_MS, source.signal);
  }
}

function sumOf(one: Totals, other: Totals): Totals {
  return {
    objects: one.objects + other.objects,
    records: one.records + other.records,
    matched: one.matched + other.matched,
    badLines: one.badLines + other.badLines,
    badObjects: one.badObjects + other.badObjects,
    incomplete: one.incomplete + other.incomplete,
  };
}

async function printTops(flags: Flags, source: Source, output: Output, messages: Messages): Promise<Totals> {
  const tallies = flags.tops.map((field) => createTally(field, flags.by));
  const totals = await readFlowLogs({
    ...source,
    objects: selected(source.objects(), flags.criteria),
    record(record) {
      for (const tally of tallies) tally.add(record);
    },
    async between(totals) {
      messages.progress(totals);
      return true;
    },
  });
  const tops = tallies.map((tally) => tally.top(flags.rows));
  output.write(topFormats[flags.format]({ tops, totals }, process.stdout.columns ?? 80));
  return totals;
}
