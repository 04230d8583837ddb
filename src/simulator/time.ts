/**
 * The machine's time, a parameter so that a test can control it. The simulator shares no code with the operator and so
 * has its own interface.
 */
export interface MachineTime {
  /** Wall time, milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never jump. */
  monotonic(): number;
  /** Calls `fire` once after `ms`; the returned function cancels. Does not keep the process alive. */
  after(ms: number, fire: () => void): () => void;
}

export const machineTime: MachineTime = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fire) {
    const timer = setTimeout(fire, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** The platform's time: starts at the machine's, runs `speed` times as fast and can be moved forward. */
export interface SimulatedClock {
  /** Whole milliseconds since the epoch, never smaller than an earlier answer. */
  now(): number;
  advance(ms: number): void;
  /** Real milliseconds until the simulated instant `at`; 0 when it has passed. */
  realUntil(at: number): number;
}

/** `notBefore`: the last instant of an earlier run; the clock never goes back before it. */
export function createClock(machine: MachineTime, speed: number, notBefore = 0): SimulatedClock {
  const start = Math.max(machine.now(), notBefore);
  const startedAt = machine.monotonic();
  let advanced = 0;
  const now = () => Math.floor(start + (machine.monotonic() - startedAt) * speed + advanced);
  return {
    now,
    advance(ms) {
      advanced += ms;
    },
    realUntil: (at) => Math.max(0, (at - now()) / speed),
  };
}

/** `2015-12-04T14:34:09.809Z`. */
export function timestamp(at: number): string {
  return new Date(at).toISOString();
}
