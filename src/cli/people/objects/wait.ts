import {
  allObjects,
  findObject,
  isPaused,
  type MooringObject,
  type ObjectAsked,
  summaryOf,
} from "../../../diagnostics/objects.ts";
import { type Find, resumed, rootOf, stepOf } from "../../../diagnostics/why/chain.ts";
import { findKey } from "../../../diagnostics/why/find.ts";
import { objectKey } from "../../../engine/state/object.ts";
import { readStatus } from "../../../engine/status/status.ts";
import { GROUP } from "../../../kinds/index.ts";
import { sleep, systemClock } from "../../../runtime/clock.ts";
import { type Context, command } from "../../frame/command.ts";
import { clusterFlags, durationIn, everywhereFlag, selectorFlag, UsageError, usualOutput } from "../../frame/flags.ts";
import { bold, red, type Text, tableLines } from "../../frame/text.ts";
import { manifestsIn } from "./manifest-files.ts";
import { knownKind, objectsIn } from "./object-args.ts";
import { painted, statusOf } from "./words.ts";

const POLL_MS = 1_000;
const STALLED = 3;
const TIMEOUT = 4;

const flags = {
  ...clusterFlags,
  ...everywhereFlag,
  ...selectorFlag,
  filename: {
    type: "string",
    short: "f",
    multiple: true,
    value: "FILE",
    completes: "file",
    help: "objects of a file, a folder, or - for stdin",
  },
  for: { type: "string", value: "WHAT", default: "ready", choices: ["ready", "deleted"], help: "ready or deleted" },
  timeout: { type: "string", value: "DURATION", default: "10m", help: "longest wait" },
  ...usualOutput,
} as const;
type Given = Context<keyof typeof flags & string>;

export const wait = command({
  name: "wait",
  summary: "wait until objects are Ready or deleted; ends immediately with the reason if one is Stalled or paused",
  usage: ["-f FILE… [OPTION…]", "KIND/NAME… [OPTION…]", "-l SELECTOR [-A] [OPTION…]"],
  description:
    "Shows the objects in a live table until all are Ready (or, with --for=deleted, gone). Ends immediately with the reason if an object is Stalled or paused, or waits for one that is. A status that is older than the last edit does not count.",
  examples: [
    ["mooring wait -f landscape.yaml", "until everything in a file is Ready"],
    ["mooring wait server/web --timeout 5m", "until one Server is Ready"],
    [
      "kubectl delete -f landscape.yaml --wait=false && mooring wait -f landscape.yaml --for=deleted",
      "until everything is gone",
    ],
  ],
  flags,
  exitCodes: { 0: "all are Ready, or deleted", 3: "an object is Stalled or paused", 4: "timeout" },
  completes: "object",
  async run(context) {
    const { flags, signal, screen, answer } = context;
    const timeoutMs = durationIn("timeout", flags.text("timeout") ?? "");
    const readRows = rowReader(context);
    const isDeletion = flags.text("for") === "deleted";
    const deadline = systemClock.monotonic() + timeoutMs;
    for (let first = true; ; first = false) {
      const rows = await readRows(first);
      const isQuiet = screen.format === "json" || screen.format === "yaml";
      if (!isQuiet) screen.live(linesOf(rows, { aligned: screen.isTerminal, wide: screen.format === "wide" }));
      const late = rows.filter(({ object }) => (isDeletion ? object !== undefined : !isDone(object)));
      const ownStalled = late.filter(isDeletion ? isStuck : isStalled);
      const stalled = isDeletion || ownStalled.length > 0 ? ownStalled : await stalledBehind(context, late);
      const isOver = systemClock.monotonic() >= deadline;
      if (late.length > 0 && stalled.length === 0 && !isOver) {
        await sleep(systemClock, POLL_MS, signal);
        continue;
      }
      const outcome = late.length === 0 ? "done" : stalled.length > 0 ? "stalled" : "timeout";
      const causes = stalled.length > 0 ? stalled : late;
      answer({ outcome, causes: causes.map(factsOf), late: late.map(factsOf), total: rows.length }, () => {
        for (const each of causes) tellCause(context, each, outcome);
      });
      return { done: 0, stalled: STALLED, timeout: TIMEOUT }[outcome];
    }
  },
});

/** An object to wait for; it may not exist. */
interface Row {
  key: string;
  object: MooringObject | undefined;
}

/** Stalled or paused objects that block the late ones. */
async function stalledBehind({ sources }: Given, late: readonly Row[]): Promise<Row[]> {
  const cluster = await sources.cluster();
  const answers = new Map<string, ReturnType<Find>>();
  const find: Find = (key) => {
    const answer = answers.get(key) ?? findKey(cluster, key, sources.signal);
    answers.set(key, answer);
    return answer;
  };
  const found = new Map<string, Row>();
  for (const { key, object } of late) {
    if (!object) continue;
    const root = rootOf(await stepOf(find, key, object)).object;
    const cause = root === key ? undefined : await find(root);
    if (cause && cause !== "hidden" && isStalled({ key: root, object: cause })) {
      found.set(root, { key: root, object: cause });
    }
  }
  return [...found.values()];
}

/** Returns a function that reads all objects to wait for. */
function rowReader({ args, flags, sources, namespace, signal }: Given): (first: boolean) => Promise<Row[]> {
  const files = flags.all("filename");
  const selector = flags.text("selector");
  if ([files.length > 0, args.length > 0, selector !== undefined].filter(Boolean).length !== 1) {
    throw new UsageError("name what to wait for: KIND/NAME…, -f FILE or -l SELECTOR");
  }
  if (selector !== undefined) {
    let seen = new Map<string, MooringObject>();
    return async (first) => {
      const found = await allObjects(sources, await namespace(), undefined, selector);
      if (first && found.size === 0) throw new Error(`no objects with ${selector}`);
      seen = new Map([...seen, ...found]);
      return [...seen.keys()].map((key) => ({ key, object: found.get(key) }));
    };
  }
  let asked: ObjectAsked[] | undefined;
  return async () => {
    asked ??= files.length > 0 ? await objectsOf(files) : objectsIn(args, flags.text("namespace"));
    const cluster = await sources.cluster();
    return Promise.all(
      asked.map(async (each) => {
        const space = knownKind(each.kind).scope === "Cluster" ? "" : (each.namespace ?? cluster.namespace);
        return {
          key: objectKey(each.kind, space, each.name),
          object: await findObject(cluster, each, sources.signal),
        };
      }),
    );
  };

  async function objectsOf(paths: readonly string[]): Promise<ObjectAsked[]> {
    const all = await manifestsIn(paths, { signal });
    const ours = all.filter(({ apiVersion }) => apiVersion.startsWith(`${GROUP}/`));
    if (ours.length === 0) throw new Error(`${paths.join(", ")}: no objects of ${GROUP}`);
    return ours.map(({ kind, metadata: { name, namespace: own } }) => ({
      kind: knownKind(kind).kind,
      name,
      namespace: own ?? flags.text("namespace"),
    }));
  }
}

const isCurrent = ({ object }: MooringObject, type: string) => {
  const { generation = 1 } = object.metadata;
  return (readStatus(object).conditions ?? []).some(
    (each) => each.type === type && each.status === "True" && (each.observedGeneration ?? generation) >= generation,
  );
};
/** A paused object may be Ready, but does not follow its spec. */
const isDone = (each: MooringObject | undefined): boolean =>
  each !== undefined && isCurrent(each, "Ready") && !isPaused(each);
/** Waiting does not help: somebody has to act, or to resume it. */
const isStalled = ({ object }: Row): boolean =>
  object !== undefined && (isCurrent(object, "Stalled") || isPaused(object));
/** With --for=deleted, only an object that is being deleted can be stuck. */
const isStuck = (row: Row): boolean => row.object?.object.metadata.deletionTimestamp !== undefined && isStalled(row);

function factsOf({ key, object }: Row) {
  if (!object) return { object: key, status: "Missing", reason: "", message: "it does not exist" };
  const { reason, message } = summaryOf(object);
  const status = statusOf(object);
  return { object: key, status, reason, message: isPaused(object) ? `paused: ${resumed(key)}` : message };
}

function linesOf(rows: readonly Row[], { aligned, wide }: { aligned: boolean; wide: boolean }): Text[][] {
  const heads = ["OBJECT", "STATUS", "REASON", ...(wide ? ["ID", "ACCOUNT"] : []), "MESSAGE"];
  const cells = rows.map((row): Text[] => {
    const { object, status, reason, message } = factsOf(row);
    const shown = row.object ? painted(statusOf(row.object), status) : red(status);
    const { id = "", account = "" } = row.object ? readStatus(row.object.object) : {};
    // The message of a Ready object is only for -o wide.
    return [object, shown, reason, ...(wide ? [id, account] : []), !wide && isDone(row.object) ? "" : message];
  });
  if (aligned) return tableLines(heads, cells);
  return cells.map((row) => {
    const last = row.findLastIndex((cell) => cell !== "");
    return row.slice(0, last + 1).flatMap((cell, at) => (at === 0 ? [cell] : ["  ", cell]));
  });
}

function tellCause({ screen, flags }: Given, row: Row, outcome: string): void {
  const { object, reason, message } = factsOf(row);
  if (row.object && isPaused(row.object)) {
    screen.note(bold(object), ` is paused: ${resumed(object)}`);
    return;
  }
  const limit = ` not ${flags.text("for")} after ${flags.text("timeout")}: `;
  screen.note(bold(object), outcome === "timeout" ? limit : " is Stalled: ", reason, "  ", message);
  if (row.object) screen.note(`  see: mooring why ${object}`);
}
