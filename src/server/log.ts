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

/** Writes are asynchronous: a slow reader of the log blocks nothing. Buffered lines are written when the process exits. */
function stderr(): DestinationStream {
  const out = pino.destination({ dest: 2, sync: false });
  process.on("exit", () => out.flushSync());
  return out;
}

/** An API error is logged with its message only. Any other error is a bug and is logged with its stack. */
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
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${valueText(value)}`);
  return `${time} ${String(level).padEnd(5)} ${plain(String(msg))}${pairs.join("")}\n`;
}

const valueText = (value: unknown): string => {
  // An error without a stack is shown as its message.
  if (typeof value === "object" && value && "message" in value && !("stack" in value)) return valueText(value.message);
  return typeof value === "string" && /^[\w./:@+-]+$/.test(value) ? value : plain(JSON.stringify(value));
};

/** Parts of the text come from outside: it must stay on one line and carry no terminal control codes. */
const plain = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
