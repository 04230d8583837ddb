/** Called when a step begins (0 seconds) and about every second until it ends. */
export type Progress = (step: string, seconds: number) => void;

export const silent: Progress = () => {};

export async function during<T>(progress: Progress, step: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  progress(step, 0);
  const timer = setInterval(() => progress(step, Math.round((performance.now() - start) / 1000)), 1000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

interface Terminal {
  isTTY?: boolean;
  write(text: string): unknown;
}

/** Interval between two lines about the same step, on outputs that are not a terminal. */
const repeatSeconds = 15;

/** Progress for people: one changing line on a terminal, a line now and then elsewhere. */
export function progressTo(stream: Terminal): { update: Progress; end(): void } {
  let current: string | undefined;
  let lastReported = 0;
  const text = (step: string, seconds: number) => (seconds > 0 ? `${step} … ${duration(seconds)}` : `${step} …`);
  return {
    update(step, seconds) {
      if (stream.isTTY) {
        if (current !== undefined && step !== current) stream.write("\n");
        stream.write(`\r\x1b[K${text(step, seconds)}`);
      } else if (step !== current || seconds - lastReported >= repeatSeconds) {
        stream.write(`${text(step, seconds)}\n`);
        lastReported = seconds;
      }
      current = step;
    },
    end() {
      if (stream.isTTY && current !== undefined) stream.write("\n");
      current = undefined;
    },
  };
}

function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return minutes > 0 ? `${minutes}m${String(seconds % 60).padStart(2, "0")}s` : `${seconds}s`;
}
