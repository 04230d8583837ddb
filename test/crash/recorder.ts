import { isWrite, type Moment, type Position, routeOf, type Side, samePosition, type Target } from "./calls.ts";

/** One call of the operator. */
export interface Call extends Position {
  at: string;
  /** Of the answer; absent while there is none, and for ever when the operator died first. */
  status?: number;
  /** From its arrival here to its answer. A platform that needs longer than the settle time may be sent a creation again. */
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

/** Counts the calls of one life, picks the fatal ones, and knows when the operator has been quiet. */
export interface Recorder {
  readonly calls: readonly Call[];
  /** Calls belong to this phase from now on. */
  enter(phase: string): void;
  arrived(side: Side, method: string, url: string, process: number): Passage;
  /** How many of the fatal calls have come. */
  readonly reached: number;
  /** Milliseconds since the operator last wrote anything, or since it began to watch; 0 while a write is under way. */
  quietMs(): number;
  /** Whether this process watches its objects, and has talked to the platform. */
  isUp(process: number): { watching: boolean; talking: boolean };
}

/** `targets`: one per process that shall die, in their order. */
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
      const nth = count([phase, process, side, method, route].join(" "));
      const call: Call = { phase, side, method, route, nth, process, at: new Date().toISOString() };
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
