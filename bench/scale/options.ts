import { parseArgs } from "node:util";

/** In the order in which they are run; those of the first line share what the first of them makes. */
export const scenarioNames = [
  ...(["create", "commands", "resync", "restart", "edits", "leader", "delete"] as const),
  ...(["kill", "flux", "limited", "noisy", "floor", "churn"] as const),
] as const;
export type ScenarioName = (typeof scenarioNames)[number];

export const contenderNames = ["mooring", "peer"] as const;
export type ContenderName = (typeof contenderNames)[number];

export const usage = `usage: make bench ARGS="scale [OPTION…]"

Measures Mooring, as the image runs it, against a plain controller-runtime operator (bench/peer) on the same CRDs, each with a
control plane and a simulated platform of its own. They take turns. Prints each figure with its goal; progress is on stderr.

  --scenario LIST   some of ${scenarioNames.join(", ")} (default: all but churn)
  --objects N       20 Datacenters and N - 20 Servers (default 1020); below 200 objects, 2 Datacenters
  --only NAME       mooring or peer alone: no ratios
  --rounds N        rounds, in turns; the median is told with its spread (default 1)
  --workers N       concurrent reconciles (default 16)
  --minutes N       how long churn lasts (default 60)
  --speed X         speed of the platform's clock (default 20)
  --json FILE       also write all figures to FILE; - is stdout, instead of the table
  --profile DIR     write CPU profiles of Mooring's processes to DIR, which makes them slower
  -h, --help        show this help

  create    apply to all Ready: time, CPU, calls to the platform and writes to Kubernetes per object, memory at rest
  commands  mooring tree, plan of all objects and orphans: time and the most memory (Mooring only)
  resync    calls to the platform per resync of objects at rest
  restart   a new process on objects at rest: passes, CPU until quiet, longest stall of the event loop
  edits     one edit of every Server: time, CPU, calls and writes per edit
  leader    the leader is killed, and another process waits: time to the first and to the last decision
  delete    all objects are deleted at once, Servers first: time until gone, CPU, calls per object
  kill      SIGKILL while 50 Servers are created, another process after 3 s: found ones and last one Ready, what is stuck, orphaned or double
  flux      all Servers in one Datacenter, 1 % of them edited again and again: calls and CPU per edit
  limited   create with a platform that takes 100 calls a second
  noisy     50 Servers beside five times --objects on an Account that hangs, compared with alone (Mooring only)
  floor     as many writes as create needs, sent straight to the API server
  churn     Servers are created, edited and deleted, two of each a second: memory at the end and after five minutes (Mooring only)`;

export interface Options {
  scenarios: ReadonlySet<ScenarioName>;
  objects: number;
  contenders: readonly ContenderName[];
  rounds: number;
  workers: number;
  minutes: number;
  speed: number;
  json: string | undefined;
  profile: string | undefined;
}

/** Something that the user can correct. */
export class UsageError extends Error {}

export function readOptions(args: string[]): Options | "help" {
  const { values } = parseArgs({
    args,
    options: {
      scenario: { type: "string", default: scenarioNames.filter((name) => name !== "churn").join(",") },
      objects: { type: "string", default: "1020" },
      only: { type: "string" },
      rounds: { type: "string", default: "1" },
      workers: { type: "string", default: "16" },
      minutes: { type: "string", default: "60" },
      speed: { type: "string", default: "20" },
      json: { type: "string" },
      profile: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return "help";
  const { only } = values;
  return {
    scenarios: new Set(values.scenario.split(",").map((name) => oneOf("scenario", scenarioNames, name.trim()))),
    objects: whole("objects", values.objects, 10),
    contenders: only === undefined ? contenderNames : [oneOf("only", contenderNames, only)],
    rounds: whole("rounds", values.rounds, 1),
    workers: whole("workers", values.workers, 1),
    minutes: whole("minutes", values.minutes, 1),
    speed: whole("speed", values.speed, 1),
    json: values.json,
    profile: values.profile,
  };
}

function oneOf<T extends string>(flag: string, names: readonly T[], text: string): T {
  const found = names.find((name) => name === text);
  if (found === undefined) throw new UsageError(`--${flag}: "${text}" is unknown; valid: ${names.join(", ")}`);
  return found;
}

function whole(flag: string, text: string, least: number): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < least) {
    throw new UsageError(`--${flag}: "${text}" is not a whole number of at least ${least}`);
  }
  return number;
}
