import type { KubeCall } from "../../../src/kube/client/transport.ts";
import { Retry, Terminal } from "../../../src/platform/answers/errors.ts";
import type { Connection, PlatformCall, Reply } from "../../../src/platform/calls/transport.ts";
import type { fakeApiServer } from "./fake-api-server.ts";
import type { fakePlatform } from "./fake-platform.ts";
import { SETTINGS, type Stage } from "./stage.ts";

/** The next decision of the scenario: one of the options, of which the first is the harmless one. */
export type Choose = <T>(first: T, ...others: T[]) => T;

/** The possible outcomes of a write to the platform; "answered" always may. */
export type Fate = "answered" | "refused" | "slow down" | "answer lost" | "request lost" | "executed late";
export const EVERY_FATE: readonly Fate[] = ["refused", "slow down", "answer lost", "request lost", "executed late"];

/** One process of the operator. One that has lost its lease ends what it has begun; one that has died does nothing. */
export interface Process {
  name: number;
  pod: string;
  life: Stage;
  /** The shard that it is of, and to which it takes each object to belong. */
  shard: number;
  known: Map<string, number>;
  leads: boolean;
  /** Objects of which a pass is under way. */
  running: Set<string>;
}

/** Somebody waits at a place where the process may die, or another one go on. */
export interface Waiting {
  process: Process;
  on: "Kubernetes" | "the platform";
  resume: () => void;
}

/** The ground that links stand on, and the scenario that decides what becomes of their calls. */
interface Ground {
  platform: ReturnType<typeof fakePlatform>;
  api: ReturnType<typeof fakeApiServer>;
  choose: Choose;
  fate: () => Fate;
  met: (what: string, of?: string) => void;
  /** Waits to be told to go on. */
  gate: (process: Process, on: Waiting["on"]) => Promise<void>;
  time: () => number;
  later: (ms: number, happen: () => void, of: Process) => void;
  /** Draws how long the platform takes for something, and executes it at that pace. */
  drawExecution: (call: PlatformCall) => () => void;
}

/** The links of a process to Kubernetes and to the platform. */
export function linksOf({ platform, api, choose, fate, met, gate, time, later, drawExecution }: Ground) {
  function clientOf(process: () => Process) {
    return {
      ...api.client,
      async request<T>(call: KubeCall): Promise<T> {
        if (call.method === "GET") return api.client.request<T>(call);
        await gate(process(), "Kubernetes");
        const fate = choose("written", "written", "written", "written, answer lost", "not written");
        met(
          `${call.path.endsWith("/status") ? "status" : "metadata"} ${fate}`,
          `process ${process().name}: ${call.path}`,
        );
        if (fate === "not written") throw new Error("no answer from the API server");
        const answer = await api.client.request<T>(call);
        await gate(process(), "Kubernetes");
        if (fate === "written, answer lost") throw new Error("no answer from the API server");
        return answer;
      },
    };
  }

  function connectionOf(process: () => Process): Connection {
    const real = platform.connectionOf("shop/main");
    const none = (call: PlatformCall, executed: "no" | "unknown") =>
      new Retry({ call: `${call.method} ${new URL(call.url).pathname}`, status: 0 }, executed);
    async function write({ guard, ...call }: PlatformCall): Promise<Reply> {
      const leaveBy = time() + (call.deadlineMs ?? SETTINGS.createDeadlineMs);
      if (leaveBy <= time()) throw none(call, "no");
      guard?.();
      await gate(process(), "the platform");
      if (time() >= leaveBy) throw none(call, "no");
      const becomes = fate();
      met(`${call.method} ${becomes}`, `process ${process().name}: ${call.url}`);
      if (becomes === "refused") throw new Terminal({ call: call.url, status: 422, platformMessage: "no" });
      if (becomes === "slow down") throw new Retry({ call: call.url, status: 429 }, "no");
      if (becomes === "executed late") later(leaveBy - time(), drawExecution(call), process());
      const reply = becomes === "answered" || becomes === "answer lost" ? await real.send(call) : undefined;
      await gate(process(), "the platform");
      if (becomes !== "answered" || !reply) throw none(call, "unknown");
      return reply;
    }
    return {
      ...real,
      async send(call) {
        if (call.method !== "GET") return write(call);
        const answer = real.send(call);
        answer.catch(() => {});
        // An answer may have been on its way for a while.
        if (choose(false, false, false, true)) await gate(process(), "the platform");
        return answer;
      },
    };
  }

  return { clientOf, connectionOf };
}
