import { isWrite, type Moment, type Position, routeOf, type Side, samePosition } from "./calls.ts";

/** One call of the operator. */
export interface Call extends Position {
  /** Which of the operator's processes, counted from 1, sent it. */
  process: number;
  at: string;
  /** Of the answer; absent while there is none, and for ever when the operator died first. */
  status?: number;
  killed?: Moment;
}

/** Where the operator is to be killed, and by what. */
export interface Target {
  position: Position;
  moment: Moment;
}

/** A call on its way through a proxy. */
export interface Passage {
  /** The operator dies in this call, at this moment. */
  readonly fatal: Moment | undefined;
  ended(status: number): void;
}

/** Counts the calls of one life, picks the fatal one, and knows when the operator has been quiet. */
export interface Recorder {
  readonly calls: readonly Call[];
  /** Calls belong to this phase from now on. */
  enter(phase: string): void;
  arrived(side: Side, method: string, url: string, process: number): Passage;
  /** Whether the fatal call has come. */
  readonly reached: boolean;
  /** Milliseconds since the operator last wrote anything, or since it began to watch; 0 while a write is under way. */
  quietMs(): number;
  /** Whether this process watches its objects, and has talked to the platform. */
  isUp(process: number): { watching: boolean; talking: boolean };
}

export function createRecorder(target: Target | undefined): Recorder {
  const calls: Call[] = [];
  const counts = new Map<string, number>();
  const watching = new Set<number>();
  const talking = new Set<number>();
  let phase = "setup";
  let reached = false;
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
        if (!watching.has(process)) busyAt = performance.now();
        watching.add(process);
        return { fatal: undefined, ended: () => {} };
      }
      if (side === "platform") talking.add(process);
      const nth = count([phase, side, method, route].join(" "));
      const call: Call = { phase, side, method, route, nth, process, at: new Date().toISOString() };
      calls.push(call);
      const write = isWrite(call);
      if (write) writing += 1;
      const fatal = !reached && target && samePosition(target.position, call) ? target.moment : undefined;
      if (fatal) {
        reached = true;
        call.killed = fatal;
      }
      return {
        fatal,
        ended(status) {
          if (status > 0) call.status = status;
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
