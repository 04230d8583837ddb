import {
  isAboutLabels,
  isWrite,
  LABEL,
  type Moment,
  type Position,
  routeOf,
  type Side,
  samePosition,
  type Target,
} from "./calls.ts";

/** One call of the operator. */
export interface Call extends Position {
  at: string;
  /** Status of the answer; absent without one. */
  status?: number;
  /**
   * Time from its arrival to its answer. If the platform needs longer than the settle time, a creation may be repeated.
   */
  ms?: number;
  killed?: Moment;
}

/** A call on its way through a proxy. */
export interface Passage {
  /** The operator dies in this call, at this moment. */
  readonly fatal: Moment | undefined;
  readonly isWrite: boolean;
  ended(status: number): void;
}

/** Counts the calls of one life, selects the fatal ones, and knows how long the operator has been quiet. */
export interface Recorder {
  readonly calls: readonly Call[];
  /** Starts a phase: later calls belong to it. */
  enter(phase: string): void;
  arrived(side: Side, method: string, url: string, process: number): Passage;
  /** Number of fatal calls that have come. */
  readonly reached: number;
  /** Milliseconds since the last write of the operator, or since it began to watch; 0 during a write. */
  quietMs(): number;
  /** Whether this process watches its objects, and has called the platform. */
  isUp(process: number): { watching: boolean; talking: boolean };
}

/** `targets`: one per process that is killed, in order. */
export function createRecorder(targets: readonly Target[]): Recorder {
  const calls: Call[] = [];
  const counts = new Map<string, number>();
  const watching = new Set<number>();
  const talking = new Set<number>();
  let phase = "setup";
  let reached = 0;
  let writing = 0;
  let busyAt = performance.now();

  const count = (key: string): number => {
    const nth = (counts.get(key) ?? 0) + 1;
    counts.set(key, nth);
    return nth;
  };

  return {
    calls,
    enter(next) {
      phase = next;
    },
    arrived(side, method, url, process) {
      const route = routeOf(side, url);
      if (route === undefined) {
        if (side === "kubernetes") {
          if (!watching.has(process)) busyAt = performance.now();
          watching.add(process);
        }
        return { fatal: undefined, isWrite: false, ended: () => {} };
      }
      if (side === "platform") talking.add(process);
      const place = isAboutLabels(side, route) ? LABEL : phase;
      const nth = count([place, process, side, method, route].join(" "));
      const call: Call = { phase: place, side, method, route, nth, process, at: new Date().toISOString() };
      const arrivedAt = performance.now();
      calls.push(call);
      const write = isWrite(call);
      if (write) writing += 1;
      const fatal = targets.find(({ position }) => samePosition(position, call))?.moment;
      if (fatal) {
        reached += 1;
        call.killed = fatal;
      }
      return {
        fatal,
        isWrite: write,
        ended(status) {
          if (status > 0) {
            call.status = status;
            call.ms = Math.round(performance.now() - arrivedAt);
          }
          if (!write) return;
          writing -= 1;
          busyAt = performance.now();
        },
      };
    },
    get reached() {
      return reached;
    },
    quietMs: () => (writing > 0 ? 0 : performance.now() - busyAt),
    isUp: (process) => ({ watching: watching.has(process), talking: talking.has(process) }),
  };
}
