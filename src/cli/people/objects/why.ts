import { newestChanges, objectActivity } from "../../../diagnostics/activity.ts";
import { findObject } from "../../../diagnostics/objects.ts";
import { attempt, type Sources } from "../../../diagnostics/sources.ts";
import { actorInWords, needsSomebody } from "../../../diagnostics/why/actors.ts";
import { type ChainLink, resumed } from "../../../diagnostics/why/chain.ts";
import { type Problem, problems } from "../../../diagnostics/why/problems.ts";
import { whyNotReady } from "../../../diagnostics/why/why-not-ready.ts";
import { readStatus } from "../../../engine/status/status.ts";
import { type Context, command, FOUND } from "../../frame/command.ts";
import {
  clusterFlags,
  everywhereFlag,
  exitCodeFlag,
  platformFlags,
  selectorFlag,
  UsageError,
  usualOutput,
} from "../../frame/flags.ts";
import type { Screen } from "../../frame/screen.ts";
import { bold, green, grey, red, yellow } from "../../frame/text.ts";
import { objectsIn } from "./object-args.ts";
import { age } from "./words.ts";

const MOST_SHOWN = 5;

const flags = {
  ...clusterFlags,
  ...everywhereFlag,
  ...selectorFlag,
  ...platformFlags,
  since: {
    type: "string",
    value: "WHEN",
    default: "1d",
    help: "how far back activity on the platform is read: 1h, 7d",
  },
  ...usualOutput,
  ...exitCodeFlag,
} as const;

export const why = command({
  name: "why",
  summary: "why an object is not Ready, root cause first: what to do and who has to act",
  usage: ["KIND/NAME [OPTION…]", "[-A] [-l SELECTOR]"],
  description:
    "Follows the objects that an object waits for down to the root cause, with the platform's request, Events and recent activity on the resource. Without an object: all objects that are not Ready, grouped by root cause.",
  examples: [
    ["mooring why server/web", "why a Server is not Ready"],
    ["mooring why -A", "all objects of the cluster that are not Ready, grouped by root cause"],
    ["mooring why -n shop -o json", "the same for one namespace, for programs"],
  ],
  flags,
  exitCodes: { 0: "answered", 3: "with --exit-code: something is not Ready" },
  completes: "object",
  async run(context) {
    const asked = objectsIn(context.args, context.flags.text("namespace"));
    if (asked.length === 0) return whyAll(context);
    if (context.flags.on("all-namespaces") || context.flags.text("selector") !== undefined) {
      throw new UsageError("name an object, or use -A or -l");
    }
    const [one, ...more] = asked;
    if (!one || more.length > 0)
      throw new UsageError("one object at a time; without one, all objects that are not Ready are shown");
    return whyOne(context, one);
  },
});

type Given = Context<keyof typeof flags & string>;

async function whyAll({ sources, flags, namespace, answer, screen }: Given) {
  const found = await problems(sources, { namespace: await namespace(), selector: flags.text("selector") });
  answer(found, () => {
    if (found.operator) {
      screen.line(red(found.operator.message));
      screen.line("  to do: ", found.operator.what_to_do);
      screen.line("");
    }
    for (const problem of found.problems) showProblem(screen, problem);
    screen.line(
      found.total === 0
        ? "no objects found"
        : found.not_ready === 0
          ? green(`all ${found.total} objects are Ready`)
          : `${found.not_ready} of ${found.total} objects are not Ready; ${plural(found.problems.length, "root cause")}`,
    );
    const [first] = found.paused;
    if (first !== undefined) {
      screen.line(yellow(`${found.paused.length} paused: `), shortList(found.paused, screen));
      screen.line("  to do: ", `to resume one: ${resumed(first)}`);
    }
  });
  return flags.on("exit-code") && found.not_ready > 0 ? FOUND : 0;
}

const shortList = (all: readonly string[], screen: Screen): string => {
  const limit = screen.format === "wide" ? all.length : MOST_SHOWN;
  return all.slice(0, limit).join(", ") + (all.length > limit ? ` and ${all.length - limit} more` : "");
};

const plural = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;

function showProblem(screen: Screen, { cause, reason, message, what_to_do, who, affected }: Problem): void {
  const paint = needsSomebody(who) ? red : yellow;
  screen.line(bold(cause), "  ", paint(reason));
  screen.line("  cause:  ", message);
  screen.line("  to do:  ", what_to_do);
  screen.line("  acts:   ", actorInWords(who));
  const others = affected.filter(({ object }) => object !== cause);
  const limit = screen.format === "wide" ? others.length : MOST_SHOWN;
  if (others.length > 0) screen.line(`  waiting: ${others.length}`);
  for (const { object, reason: own } of others.slice(0, limit)) screen.line("    ", object, grey(`  ${own}`));
  if (others.length > limit) screen.line(grey(`    … and ${others.length - limit} more; -o wide shows all`));
  screen.line("");
}

async function whyOne(context: Given, asked: ReturnType<typeof objectsIn>[number]) {
  const { screen, flags, answer } = context;
  const sources = await throughItsAccount(context, asked);
  const found = await whyNotReady(sources, asked);
  let activity: Awaited<ReturnType<typeof objectActivity>>["events"] = [];
  const missing: string[] = [];
  if (found.id !== undefined) {
    await attempt(sources, "activity on the platform", missing, async () => {
      const since = flags.text("since") ?? "1d";
      activity = newestChanges((await objectActivity(sources, { ...asked, since })).events, MOST_SHOWN);
    });
  }
  for (const each of missing) sources.missing?.(each);
  answer({ ...found, activity }, () => {
    const isDone = found.what_to_do === "Nothing.";
    screen.line((isDone ? green : found.ready ? yellow : red)(found.answer));
    if (found.operator !== undefined && found.operator !== found.answer) screen.line(red(found.operator));
    if (!isDone) {
      screen.line("to do:  ", found.what_to_do);
      screen.line("acts:   ", found.acts);
    }
    if (!found.ready) {
      screen.line("");
      screen.line(bold("Chain"));
      screen.line("  ", `${found.kind}/${found.name}`, yellow(`  ${found.reason}`), "  ", found.message);
      for (const step of found.waits_for) showStep(screen, step, "  ");
    }
    const { request } = found;
    if (request) {
      const said =
        typeof request.platform === "string"
          ? request.platform
          : `${request.platform.status} ${request.platform.message ?? ""}`;
      screen.line(bold("Request"), ` of ${request.object}`);
      screen.line("  ", `${request.action} ${request.status} since ${request.since}; the platform says: ${said}`);
    }
    for (const { field, wanted, found: there } of found.drift ?? []) {
      screen.line(bold("Drift"), `  ${field}: ${wanted} in spec, ${there} on the platform`);
    }
    for (const each of found.advice ?? []) screen.line(bold("Advice"), "  ", each);
    if (found.events.length > 0) screen.line(bold("Events"));
    for (const { time, type, reason, message, count } of found.events.slice(0, MOST_SHOWN)) {
      const times = count > 1 ? ` (×${count})` : "";
      screen.line(`  ${age(time, sources.now())} ago  ${type ?? ""} ${reason ?? ""}${times}: ${message ?? ""}`);
    }
    if (activity.length > 0) screen.line(bold("Activity on the platform"));
    for (const { time, user, action, status } of activity) screen.line(`  ${time}  ${user}  ${action} ${status}`);
  });
  return flags.on("exit-code") && !found.ready ? FOUND : 0;
}

/** The platform of the object's own Account, unless --account names another one. */
async function throughItsAccount(
  { sources, platform, flags }: Given,
  asked: ReturnType<typeof objectsIn>[number],
): Promise<Sources> {
  if (flags.text("account") !== undefined) return sources;
  const found = await findObject(await sources.cluster(), asked, sources.signal);
  const account = found && readStatus(found.object).account;
  return account === undefined ? sources : { ...sources, platform: () => platform(account) };
}

function showStep(screen: Screen, { object, reason, message, waits_for }: ChainLink, indent: string): void {
  screen.line(`${indent}└─ `, object, yellow(`  ${reason}`), "  ", message);
  for (const each of waits_for) showStep(screen, each, `${indent}   `);
}
