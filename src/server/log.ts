import { type DestinationStream, type Logger, pino } from "pino";
import { KubeError } from "../kube/client/errors.ts";
import { LeadershipLost } from "../kube/lease/leadership-lost.ts";
import { PlatformError } from "../platform/answers/errors.ts";

export type LogFormat = "text" | "json";

/** Lines on stderr: JSON for log collectors, text for people. Levels are words, and each event is one line. */
export function createLog(
  { level, format }: { level: string; format: LogFormat },
  out: DestinationStream = stderr(),
): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describe },
  };
  return pino(options, format === "json" ? out : { write: (line) => out.write(textOf(line)) });
}

/** Nobody waits for whoever reads the log. What is not written yet is written when the process ends. */
function stderr(): DestinationStream {
  const out = pino.destination({ dest: 2, sync: false });
  process.on("exit", () => out.flushSync());
  return out;
}

/** What an API may answer is told in its own words; only a mistake of the operator shows where it was made. */
function describe(error: Error): object {
  if (error instanceof KubeError) return { message: error.message, status: error.status, reason: error.reason };
  if (error instanceof PlatformError) return { message: error.message, status: error.status };
  if (error instanceof LeadershipLost) return { message: error.message };
  const { type, message, stack } = pino.stdSerializers.err(error);
  return { type, message, stack };
}

/** `2026-01-01T00:00:00.000Z info  became leader identity=a`. */
function textOf(line: string): string {
  const { time, level, msg, ...fields }: Record<string, unknown> = JSON.parse(line);
  const told = Object.entries(fields).map(([name, value]) => ` ${name}=${word(value)}`);
  return `${time} ${String(level).padEnd(5)} ${plain(String(msg))}${told.join("")}\n`;
}

const word = (value: unknown): string => {
  // Of an error without a stack only its words are left to be said.
  if (typeof value === "object" && value && "message" in value && !("stack" in value)) return word(value.message);
  return typeof value === "string" && /^[\w./:@+-]+$/.test(value) ? value : plain(JSON.stringify(value));
};

/** Others may have written parts of it: it stays on one line, and no terminal obeys it. */
const plain = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
