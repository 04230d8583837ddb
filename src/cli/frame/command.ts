import { inOneLine } from "../../diagnostics/sources.ts";
import { systemClock } from "../../runtime/clock.ts";
import { type Access, openAccess } from "./access.ts";
import { onBrokenOutput } from "./broken-output.ts";
import { type Flags, type FlagTable, helpFlag, parseFlags, UsageError } from "./flags.ts";
import { type Described, helpOf } from "./help.ts";
import { openScreen, type Screen, type Surroundings } from "./screen.ts";
import { yellow } from "./text.ts";

/** The context of a command. */
export interface Context<Name extends string> extends Omit<Access, typeof Symbol.asyncDispose> {
  flags: Flags<Name>;
  /** The arguments that are not flags. */
  args: readonly string[];
  env: Surroundings["env"];
  screen: Screen;
  /**
   * Writes the answer: the document for -o json and yaml, else the output of `people`. Both list what could not be
   * read.
   */
  answer(value: object, people: () => void): void;
  /** Aborted by Ctrl-C, and when the reader of the output is gone. */
  signal: AbortSignal;
}

/** The declaration of a command. */
export interface Declared<Table extends FlagTable> extends Described {
  /** One line for `mooring help`. */
  summary: string;
  flags: Table;
  /** Completion of its arguments: KIND/NAME from the cluster, or these words. */
  completes?: "object" | readonly string[];
  /** Returns the exit code; undefined means 0. Throws UsageError for wrong usage, any other error for a failure. */
  run(context: Context<keyof Table & string>): Promise<number | undefined>;
}

/** A command as main.ts and completion see it. */
export interface PeopleCommand {
  name: string;
  summary: string;
  help: string;
  flags: FlagTable;
  completes: "object" | readonly string[] | undefined;
  run(argv: readonly string[], surroundings?: Surroundings): Promise<number>;
}

/** Exit codes of every command. `exitCodes` of a command documents others, or another meaning. */
export const FAILED = 1;
export const WRONG_USAGE = 2;
export const FOUND = 3;
export const INTERRUPTED = 130;

export function command<const Table extends FlagTable>(declared: Declared<Table>): PeopleCommand {
  const { name, summary, completes, exitCodes = {} } = declared;
  const flags = { ...declared.flags, ...helpFlag };
  const help = helpOf({ ...declared, flags });
  // If 2 has another meaning for a command, wrong usage counts as a failure.
  const wrongUsage = 2 in exitCodes ? FAILED : WRONG_USAGE;
  return {
    name,
    summary,
    help,
    flags,
    completes,
    async run(argv, surroundings = process) {
      try {
        const parsed = parseFlags(flags, argv);
        if (parsed.flags.on("help")) {
          surroundings.stdout.write(`${help}\n`);
          return 0;
        }
        return await perform(declared, parsed, surroundings);
      } catch (error) {
        const { note } = openScreen(surroundings, "table", systemClock.now);
        if (isWrongUsage(error)) {
          note(`mooring ${name}: ${error.message}; see "mooring ${name} --help"`);
          return wrongUsage;
        }
        if (surroundings.env.MOORING_DEBUG) throw error;
        note(`mooring ${name}: ${inOneLine(error)}`);
        return FAILED;
      }
    },
  };
}

const isWrongUsage = (error: unknown): error is Error =>
  error instanceof UsageError ||
  (error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"));

async function perform<Table extends FlagTable>(
  { run }: Declared<Table>,
  { flags, args }: { flags: Flags<string>; args: readonly string[] },
  surroundings: Surroundings,
): Promise<number> {
  const ending = new AbortController();
  const interrupt = () => ending.abort();
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.once(signal, interrupt);
  let broken: NodeJS.ErrnoException | undefined;
  const onBroken = (error: NodeJS.ErrnoException) => {
    broken = error;
    ending.abort();
  };
  const stopListening = onBrokenOutput(onBroken);
  // Timers of the clock do not keep the process alive, and there may be nothing else between two reads.
  const alive = setInterval(() => {}, 60_000);
  const screen = openScreen(surroundings, flags.text("output") ?? "table", systemClock.now);
  try {
    const asked = {
      kubeconfig: flags.text("kubeconfig"),
      context: flags.text("context"),
      namespace: flags.text("namespace"),
      account: flags.text("account"),
      platform: flags.text("platform"),
      everywhere: flags.on("all-namespaces"),
    };
    await using access = openAccess(asked, surroundings.env, screen, ending.signal);
    const { sources, missing, client, cluster, namespace, platform } = access;
    let isAnswered = false;
    const nameMissing = () => {
      for (const each of missing) screen.note(yellow("not checked: "), each);
    };
    const answer = (value: object, people: () => void) => {
      isAnswered = true;
      const listed = "not_checked" in value && Array.isArray(value.not_checked) ? value.not_checked : [];
      const all = [...listed, ...missing];
      screen.answer({ ...value, ...(all.length > 0 && { not_checked: all }) }, () => {
        people();
        nameMissing();
      });
    };
    const given = { flags, args, screen, answer, signal: ending.signal, env: surroundings.env };
    try {
      return (await run({ ...given, sources, missing, client, cluster, namespace, platform })) ?? 0;
    } finally {
      if (!isAnswered && !ending.signal.aborted) nameMissing();
    }
  } catch (error) {
    // The reader closed the output, as `head` does.
    if (broken?.code === "EPIPE") return 0;
    if (broken) throw broken;
    if (ending.signal.aborted) return INTERRUPTED;
    throw error;
  } finally {
    clearInterval(alive);
    for (const signal of signals) process.removeListener(signal, interrupt);
    stopListening();
  }
}
