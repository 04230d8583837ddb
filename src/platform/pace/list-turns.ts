/**
 * The maximum number of concurrent lists of an Account per host: an answer may have megabytes, and takes more while it is
 * parsed.
 */
const MOST_RUNNING = 8;

interface Line {
  running: number;
  readonly waiting: Set<() => void>;
}

const lines = new WeakMap<object, Map<string, Line>>();

/** Runs `perform` when its turn comes, first in first out; rejects when the signal aborts before. */
export async function inTurn<T>(
  connection: object,
  host: string,
  signal: AbortSignal,
  perform: () => Promise<T>,
): Promise<T> {
  const byHost = lines.get(connection) ?? new Map<string, Line>();
  lines.set(connection, byHost);
  const line = byHost.get(host) ?? { running: 0, waiting: new Set() };
  byHost.set(host, line);
  // A list that ends hands its slot to the next one, so `running` is not raised here.
  if (line.running >= MOST_RUNNING) await waitForSlot(line, signal);
  else line.running += 1;
  try {
    return await perform();
  } finally {
    const [next] = line.waiting;
    if (next) next();
    else line.running -= 1;
    if (line.running === 0) byHost.delete(host);
  }
}

function waitForSlot({ waiting }: Line, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const take = () => {
      waiting.delete(take);
      signal.removeEventListener("abort", leave);
      resolve();
    };
    const leave = () => {
      waiting.delete(take);
      reject(signal.reason);
    };
    waiting.add(take);
    signal.addEventListener("abort", leave, { once: true });
  });
}
