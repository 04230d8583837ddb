import { type Branch, forest, plainBranch } from "../../../diagnostics/overview/forest.ts";
import { dependencyTree, linesOf } from "../../../diagnostics/tree.ts";
import { sleep, systemClock } from "../../../runtime/clock.ts";
import { type Context, command } from "../../frame/command.ts";
import { clusterFlags, everywhereFlag, selectorFlag, UsageError, usualOutput } from "../../frame/flags.ts";
import { bold, grey, red, type Text } from "../../frame/text.ts";
import { objectsIn } from "./object-args.ts";
import { age, painted, statusOf } from "./words.ts";

const POLL_MS = 2_000;

const flags = {
  ...clusterFlags,
  ...everywhereFlag,
  ...selectorFlag,
  watch: { type: "boolean", short: "w", help: "keep showing it until Ctrl-C" },
  ...usualOutput,
} as const;
type Given = Context<keyof typeof flags & string>;

export const tree = command({
  name: "tree",
  summary: "objects as trees, or the dependencies and dependents of one object",
  usage: ["[-A] [-l SELECTOR] [--watch] [OPTION…]", "KIND/NAME [--watch] [OPTION…]"],
  description:
    "Without an object: all objects as trees, each below the object that it lives in, else below its Account. With an object: its dependencies and dependents, at any depth.",
  examples: [
    ["mooring tree", "the landscape of the namespace"],
    ["mooring tree datacenter/main", "what would be lost with a Datacenter"],
    ["mooring tree --watch", "watch a landscape become Ready"],
  ],
  flags,
  completes: "object",
  async run(context) {
    const { args, flags, screen, signal } = context;
    const asked = objectsIn(args, flags.text("namespace"));
    if (asked.length > 1) throw new UsageError("one object at a time");
    if (asked.length > 0 && flags.text("selector") !== undefined) throw new UsageError("name an object, or use -l");
    const isWatching = flags.on("watch");
    if (isWatching && ["json", "yaml"].includes(screen.format))
      throw new UsageError("--watch is for people: leave out -o");
    for (;;) {
      const [one] = asked;
      const { value, lines } = one ? await treeOf(context, one) : await allTrees(context);
      if (!isWatching) {
        context.answer(value, () => {
          for (const line of lines) screen.line(...line);
        });
        return 0;
      }
      screen.live(lines);
      await sleep(systemClock, POLL_MS, signal);
    }
  },
});

async function allTrees({ sources, flags, namespace, screen }: Given) {
  const space = await namespace();
  const branches = await forest(sources, { namespace: space, selector: flags.text("selector") });
  const shown = (key: string) => (space === undefined ? key : key.replace(`/${space}/`, "/"));
  const drawn = (branch: Branch, indent: string, connector: string): Text[][] => [
    [indent, connector, shown(branch.object), "  ", ...cells(branch, sources.now(), screen.format === "wide")],
    ...branch.below.flatMap((each, at) => {
      const isLast = at === branch.below.length - 1;
      const line = connector === "" ? "" : connector.startsWith("├") ? "│  " : "   ";
      return drawn(each, indent + line, isLast ? "└─ " : "├─ ");
    }),
  ];
  const lines = branches.flatMap((branch) => drawn(branch, "", ""));
  return {
    value: { items: branches.map(plainBranch) },
    lines: lines.length > 0 ? lines : [["no objects found"]],
  };
}

function cells({ known, ready, reason }: Branch, now: number, wide: boolean): Text[] {
  if (!known) return [red(reason)];
  const is = statusOf(known);
  const since = wide ? [grey(`  ${age(known.object.metadata.creationTimestamp, now)}`)] : [];
  return [painted(is, is), ...(ready ? [] : [`  ${reason}`]), ...since];
}

async function treeOf({ sources }: Given, one: ReturnType<typeof objectsIn>[number]) {
  const { picture, ...value } = await dependencyTree(sources, one);
  const lines = linesOf(value).map(({ indent, text }, at): Text[] => [indent, at === 0 ? bold(text) : text]);
  return { value, lines };
}
