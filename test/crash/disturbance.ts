import { setTimeout as delay } from "node:timers/promises";
import { SHARD } from "../../src/engine/state/names.ts";
import type { KubeClient } from "../../src/kube/client/transport.ts";
import type { Moment, Side } from "./calls.ts";
import type { Operator } from "./operator.ts";

/**
 * The disturbance at the fatal call of a life. Without shards, the operator is killed and restarted. With shards, there is a
 * second operator, and the namespace moves to it at that call. The first operator
 *
 * - `moved`: continues, and the namespace also moves at each of the next writes, first back;
 * - `frozen`: is stopped until the other one has had time to work, and then continues;
 * - `killed`: is killed and restarted.
 */
export const disturbances = ["moved", "frozen", "killed"] as const;
export type Disturbance = (typeof disturbances)[number];

/** The shard of the second operator. */
export const OTHER = "other";

/** Longer than the deadline and the settle time of the operators together. */
const FROZEN_MS = 8000;
const MOVES = 4;

export interface Disturber {
  /** Called at the fatal call. Resolves with the fate of the call and its connection. */
  strike(side: Side, moment: Moment): Promise<"dies" | "goes on">;
  /** Called at each later write. */
  wrote(): void;
  /** The reason why nothing is at rest yet. */
  unrest(): string | undefined;
}

export function createDisturber(
  how: Disturbance | undefined,
  { operator, admin, namespace }: { operator: Operator; admin: KubeClient; namespace: string },
): Disturber {
  let struck = false;
  let moves = 0;
  let pending = 0;
  let shardMove = Promise.resolve();

  /** Moves the namespace to the other operator. */
  function move(): Promise<void> {
    const shard = moves % 2 === 0 ? OTHER : null;
    moves += 1;
    pending += 1;
    const body = { metadata: { labels: { [SHARD]: shard } } };
    const path = `/api/v1/namespaces/${namespace}`;
    shardMove = shardMove
      .then(() => admin.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body }))
      .then(() => {
        pending -= 1;
      });
    return shardMove;
  }

  return {
    async strike(side, moment) {
      struck = true;
      if (how === undefined || how === "killed") operator.restart();
      if (how === undefined) return "dies";
      if (how === "frozen") operator.freeze();
      await move();
      if (how !== "frozen") return how === "killed" ? "dies" : "goes on";
      pending += 1;
      const thawed = delay(FROZEN_MS).then(() => {
        operator.thaw();
        pending -= 1;
      });
      // After its deadline, no byte of a call to the platform leaves: a call that has not arrived by then is lost.
      if (side === "platform" && moment === "before") return "dies";
      await thawed;
      return "goes on";
    },
    wrote() {
      if (how === "moved" && struck && moves < MOVES) void move();
    },
    unrest: () => (pending > 0 ? "the namespace is being moved" : undefined),
  };
}
