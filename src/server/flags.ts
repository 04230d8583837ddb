import { existsSync, readFileSync } from "node:fs";
import type { LogFormat } from "./log.ts";
import type { Pair } from "./serving-certificate.ts";
import { UsageError } from "./usage-error.ts";

/**
 * A flag for `parseArgs`, with its help text. The help of a flag with a value begins with the name of the value and two spaces.
 */
interface Flag {
  help: string;
  default?: string | boolean;
  short?: string;
}

export const usageOf = (command: string, flags: Readonly<Record<string, Flag>>): string =>
  `usage: mooring ${command} [OPTION…]\n\n${Object.entries(flags).map(described).join("\n")}`;

const INDENT = 26;
const WIDTH = 120;

/** A flag with its help and default, in lines that fit a terminal. */
function described([name, flag]: [string, Flag]): string {
  const [value, ...rest] = flag.help.split("  ");
  const words = rest.length > 0 ? rest.join("  ") : flag.help;
  const text = typeof flag.default === "string" ? `${words} (default ${flag.default})` : words;
  const head = `  ${flag.short ? `-${flag.short}, ` : ""}--${name}${rest.length > 0 ? ` ${value}` : ""}`;
  const [lines, gap] = [head.length < INDENT ? [] : [head], " ".repeat(INDENT)];
  let line = head.length < INDENT ? head.padEnd(INDENT) : gap;
  for (const word of text.split(" ")) {
    const longer = line.endsWith("  ") ? line + word : `${line} ${word}`;
    if (longer.length <= WIDTH) line = longer;
    else {
      lines.push(line);
      line = gap + word;
    }
  }
  return [...lines, line].join("\n");
}

const MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

export function duration(flag: string, text: string): number {
  const parts = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text);
  const unit = parts?.[2];
  if (!parts || (unit !== "ms" && unit !== "s" && unit !== "m" && unit !== "h")) {
    throw new UsageError(`--${flag}: "${text}" is not a duration; write for example 30s, 5m or 1h`);
  }
  return Number(parts[1]) * MS[unit];
}

export function address(flag: string, text: string): { host: string; port: number } {
  const parts = /^(.*):(\d{1,5})$/.exec(text);
  const port = Number(parts?.[2]);
  if (!parts || port > 65_535)
    throw new UsageError(`--${flag}: "${text}" is not HOST:PORT; write for example 127.0.0.1:8080`);
  return { host: parts[1] || "0.0.0.0", port };
}

export function count(flag: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (text.trim() === "" || !Number.isInteger(number) || number < least || number > most) {
    throw new UsageError(`--${flag}: "${text}" is not a whole number from ${least} to ${most}`);
  }
  return number;
}

export function certificates(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw new UsageError(`--ca-file: "${path}" contains no PEM certificate`);
}

export function pair(cert: string | undefined, key: string | undefined): Pair | undefined {
  if (cert === undefined && key === undefined) return undefined;
  return { cert: existing("tls-cert-file", cert), key: existing("tls-key-file", key) };
}

export function existing(flag: string, path: string | undefined): string {
  if (path === undefined) throw new UsageError(`--${flag}: missing; --tls-cert-file and --tls-key-file go together`);
  if (!existsSync(path)) throw new UsageError(`--${flag}: "${path}" does not exist`);
  return path;
}

export function level(text: string): string {
  if (["trace", "debug", "info", "warn", "error"].includes(text)) return text;
  throw new UsageError(`--log-level: "${text}" is unknown; valid: trace, debug, info, warn, error`);
}

export function format(text: string): LogFormat {
  if (text === "text" || text === "json") return text;
  throw new UsageError(`--log-format: "${text}" is unknown; valid: text, json`);
}

/** The value of a label on the platform. An operator of one namespace has no name for the cluster by itself. */
export function clusterName(name: string | undefined, watchNamespace: string | undefined): string | undefined {
  if (name === undefined) return watchNamespace === undefined ? undefined : "";
  if (name === "none") return "";
  if (/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(name)) return name;
  throw new UsageError(
    `--cluster-name: "${name}" is not a name of letters, digits, "-", "." and "_", with a letter or digit at both ends and at most 63 characters`,
  );
}

/** Part of the name of a Lease and of a Deployment. */
const SHARD_NAME = /^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$/;

export function shardName(name: string | undefined, watchNamespace: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  if (!SHARD_NAME.test(name)) {
    throw new UsageError(
      `--shard: "${name}" is not a name of lower-case letters, digits and "-", with a letter or digit at both ends and at most 40 characters`,
    );
  }
  if (watchNamespace !== undefined) {
    throw new UsageError(
      "--shard: cannot be combined with --watch-namespace: an operator of one namespace works on all of it; remove one of the two",
    );
  }
  return name;
}

const POD_NAMESPACE_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

export function podNamespace(): string | undefined {
  return existsSync(POD_NAMESPACE_FILE) ? readFileSync(POD_NAMESPACE_FILE, "utf8").trim() : undefined;
}
