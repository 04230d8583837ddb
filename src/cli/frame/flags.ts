import { parseArgs } from "node:util";
import { platformNames } from "../../platform/addresses/platforms.ts";

/** A flag, for parsing and for help. */
export interface Flag {
  type: "string" | "boolean";
  short?: string;
  multiple?: true;
  default?: string;
  /** The placeholder of the value in the help, for example NAME. */
  value?: string;
  /** A noun phrase in lower case. The default is added to it. */
  help: string;
  choices?: readonly string[];
  /** Completion of the value: names from the cluster, or files. */
  completes?: "namespace" | "account" | "context" | "file" | "directory";
}
export type FlagTable = Readonly<Record<string, Flag>>;

/** Flags of the cluster, named as in kubectl. */
export const clusterFlags = {
  kubeconfig: {
    type: "string",
    value: "PATH",
    completes: "file",
    help: "kubeconfig of the cluster; default: KUBECONFIG, else ~/.kube/config, else the pod's service account",
  },
  context: { type: "string", value: "NAME", completes: "context", help: "context of the kubeconfig" },
  namespace: {
    type: "string",
    short: "n",
    value: "NAME",
    completes: "namespace",
    help: "namespace; default: that of the context",
  },
} as const satisfies FlagTable;

export const everywhereFlag = {
  "all-namespaces": { type: "boolean", short: "A", help: "objects of all namespaces" },
} as const satisfies FlagTable;

export const selectorFlag = {
  selector: {
    type: "string",
    short: "l",
    value: "SELECTOR",
    help: "only objects with these labels, for example app=shop",
  },
} as const satisfies FlagTable;

/** Flags of the platform. */
export const platformFlags = {
  account: {
    type: "string",
    value: "NAME",
    completes: "account",
    help: "Account whose token and endpoints are used, or ClusterAccount/NAME; default: the only Account of the namespace, else the default ClusterAccount. If its Secret may not be read, MOORING_TOKEN is used",
  },
  platform: {
    type: "string",
    value: "NAME",
    choices: platformNames,
    help: `platform whose public endpoints are used where the Account sets none: ${platformNames.join(", ")}; default: MOORING_PLATFORM. MOORING_ENDPOINTS overrides single ones`,
  },
} as const satisfies FlagTable;

export const exitCodeFlag = {
  "exit-code": { type: "boolean", help: "exit with 3 if anything is listed" },
} as const satisfies FlagTable;

export const outputFlag = <const Choice extends string>(...choices: readonly [Choice, ...Choice[]]) =>
  ({
    output: {
      type: "string",
      short: "o",
      value: "FORMAT",
      default: choices[0],
      choices,
      help: choices.join(", "),
    },
  }) as const satisfies FlagTable;

/** The formats of kubectl. */
export const usualOutput = outputFlag("table", "wide", "json", "yaml");

export const helpFlag = { help: { type: "boolean", short: "h", help: "show this help" } } as const satisfies FlagTable;

/** Wrong usage. The message refers to the help of the command. */
export class UsageError extends Error {}

export interface Flags<Name extends string> {
  text(name: Name): string | undefined;
  on(name: Name): boolean;
  all(name: Name): string[];
}

export function parseFlags<const Table extends FlagTable>(
  table: Table,
  argv: readonly string[],
): { flags: Flags<keyof Table & string>; args: string[] } {
  const options = Object.fromEntries(
    Object.entries(table).map(([name, { type, short, multiple, default: usual }]) => [
      name,
      {
        type,
        ...(short !== undefined && { short }),
        ...(multiple && { multiple }),
        ...(usual !== undefined && { default: multiple ? [usual] : usual }),
      },
    ]),
  );
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
  const all = (name: string): string[] => {
    const value = values[name];
    return (Array.isArray(value) ? value : [value]).flatMap((each) => (typeof each === "string" ? [each] : []));
  };
  for (const [name, { choices }] of Object.entries(table)) {
    const wrong = choices && all(name).find((text) => !choices.includes(text));
    if (choices && wrong !== undefined) {
      throw new UsageError(`--${name} ${wrong}: unknown; valid: ${choices.join(", ")}`);
    }
  }
  return { flags: { text: (name) => all(name).at(-1), on: (name) => values[name] === true, all }, args: positionals };
}

const UNIT_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration such as 30s, 5m or 1h30m, in milliseconds. */
export function durationIn(flag: string, text: string): number {
  if (!/^(\d{1,9}[smhd])+$/.test(text))
    throw new UsageError(`--${flag} ${text}: give a duration such as 30s, 5m or 1h`);
  const parts = text.matchAll(/(\d+)([smhd])/g);
  return parts.reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (UNIT_MS[unit] ?? 0), 0);
}

export function wholeIn(flag: string, text: string, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > most) throw new UsageError(`--${flag} ${text}: give a whole number up to ${most}`);
  return value;
}
