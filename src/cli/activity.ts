import { localTime } from "../diagnostics/time.ts";
import { activityContract, activityPage } from "../platform/activity/log.ts";
import { RETENTION_MS, readActivity } from "../platform/activity/read.ts";
import { Forbidden, Retry } from "../platform/answers/errors.ts";
import { platformTime, withoutDoubt } from "../platform/calls/platform-time.ts";
import { sleep, systemClock } from "../runtime/clock.ts";
import { type Criteria, createFilter } from "./activity/filter.ts";
import { type Flags, parseFlags, usage } from "./activity/flags.ts";
import { entryFormats } from "./activity/formats.ts";
import { noObjects, type Objects } from "./activity/object-names.ts";
import { progressTo } from "./activity/progress.ts";
import { UsageError } from "./flowlogs/flags.ts";
import { plural } from "./flowlogs/numbers.ts";
import { type Output, outputTo } from "./flowlogs/output.ts";
import { type AccessAsked, openPlatform, withAccount } from "./platform-access.ts";

/** Poll interval with --follow. */
const FOLLOW_MS = 2_000;
/** Maximum attempts of a call that fails with temporary errors. With --follow there is no limit. */
const ATTEMPTS = 5;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;

/** `mooring activity`: reads the activity log of the contract. */
export async function activityCommand(argv: string[]): Promise<number> {
  const ending = new AbortController();
  let broken: NodeJS.ErrnoException | undefined;
  try {
    const flags = parseFlags(argv, systemClock.now());
    if (flags.help) {
      console.log(usage);
      return 0;
    }
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => ending.abort());
    const output = outputTo(process.stdout, ending.signal, (error) => {
      broken = error;
      ending.abort();
    });
    return await activity(flags, output, ending.signal);
  } catch (error) {
    if (broken?.code === "EPIPE") return 0;
    if (broken) throw broken;
    if (ending.signal.aborted) return 130;
    if (!(error instanceof UsageError)) throw error;
    console.error(`mooring activity: ${error.message}\nSee "mooring activity --help".`);
    return 2;
  }
}

async function activity(flags: Flags, output: Output, signal: AbortSignal): Promise<number> {
  const asked = await withAccount(flags.access);
  await using access = await openPlatform(asked);
  const api = access.endpoint("api");
  const connection = access.connection();
  await using objects = await objectsFor(asked);
  const withRetries = <T>(work: () => Promise<T>) => retrying(work, flags.follow, signal);
  const contract = await withoutDoubt(connection, () =>
    withRetries(() => activityContract(connection, api, { signal })),
  );
  // The clock of a simulator may be days ahead of this machine.
  const now = () => platformTime(systemClock, connection);
  const start = now();
  const since = flags.since(start);
  if (since < start - RETENTION_MS) console.error("the platform keeps 35 days: older entries are gone");

  const matches = createFilter(flags.criteria);
  const format = entryFormats[flags.format]();
  const progress = progressTo(process.stderr, systemClock.monotonic);
  let [arrived, read, matched] = [0, 0, 0];
  const batches = readActivity({
    async page(time, offset) {
      const page = await withRetries(() => activityPage(connection, api, { contract, time, offset }, { signal }));
      arrived += page.sources.length;
      progress.show(arrived, page.total);
      return page;
    },
    now,
    since,
    until: flags.until(start),
    pause: flags.follow ? () => sleep(systemClock, FOLLOW_MS, signal) : undefined,
  });
  try {
    for await (const entries of batches) {
      if (entries.some((entry) => objects.of(entry).length === 0)) await objects.refresh(signal);
      const rows = entries.map((entry) => ({ entry, objects: objects.of(entry) }));
      const wanted = rows.filter((row) => matches(row.entry, row.objects));
      read += entries.length;
      matched += wanted.length;
      if (wanted.length > 0) progress.clear();
      output.write(format.rows(wanted));
      await output.end();
    }
  } finally {
    progress.clear();
  }
  output.write(format.end());
  await output.end();
  if (matched > 0 || !isFiltered(flags.criteria)) return 0;
  console.error(nothingMatches(flags.criteria, read, since));
  return 1;
}

const isFiltered = ({ users, resources, actions }: Criteria) => users.length + resources.length + actions.length > 0;

/** The message for a search without results. */
function nothingMatches({ users, resources, actions }: Criteria, read: number, since: number): string {
  const asked = [
    ...users.map((each) => `--user ${each}`),
    ...resources.map((each) => `--resource ${each}`),
    ...actions.map((each) => `--action ${each}`),
  ];
  return `none of the ${plural(read, "entry", "entries")} since ${localTime(Math.floor(since / 1000))} matches ${asked.join(" ")}`;
}

async function objectsFor(access: AccessAsked): Promise<Objects> {
  if (access.account === undefined) return noObjects;
  const { openObjects } = await import("./activity/objects.ts");
  return openObjects(access, process.env);
}

/** Retries with backoff, and waits at least as long as the platform asks. */
async function retrying<T>(work: () => Promise<T>, forever: boolean, signal: AbortSignal): Promise<T> {
  for (let attempt = 1, delayMs = FIRST_DELAY_MS; ; attempt++, delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Forbidden) {
        throw new Error(`${error.message}; the token's user needs the privilege ACCESS_ACTIVITY_LOG`, { cause: error });
      }
      if (signal.aborted || !(error instanceof Retry) || (!forever && attempt === ATTEMPTS)) throw error;
      const waitMs = Math.max(error.afterMs ?? 0, delayMs);
      console.error(`${error.message}; trying again in ${Math.ceil(waitMs / 1000)} s`);
      await sleep(systemClock, waitMs, signal);
    }
  }
}
