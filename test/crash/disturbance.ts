import { setTimeout as delay } from "node:timers/promises";
import { SHARD } from "../../src/engine/state/names.ts";
import type { KubeClient } from "../../src/kube/client/transport.ts";
import type { Moment, Side } from "./calls.ts";
import type { Operator } from "./operator.ts";

/**
 * What happens to a life at its fatal call. Without shards the operator is killed, and started again. With shards there is a
 * second operator, and the namespace is moved to it at that call, while the first one
 *
 * - `moved`: goes on, and the namespace is moved at each of the next writes as well, back first;
 * - `frozen`: is stopped until the other has had time to do its work, then goes on where it was;
 * - `killed`: is killed, and started again.
 */
export const disturbances = ["moved", "frozen", "killed"] as const;
export type Disturbance = (typeof disturbances)[number];

/** The shard of the second operator. */
export const OTHER = "other";

/** Longer than the deadline and the settle time of the operators together. */
const FROZEN_MS = 5000;
const MOVES = 4;

export interface Disturber {
  /** The fatal call. Resolves with what becomes of it, and of the connection it came over. */
  strike(side: Side, moment: Moment): Promise<"dies" | "goes on">;
  /** A write after that. */
  wrote(): void;
  /** Why nothing is at rest yet. */
  unrest(): string | undefined;
}

export function createDisturber(
  how: Disturbance | undefined,
  { operator, admin, namespace }: { operator: Operator; admin: KubeClient; namespace: string },
): Disturber {
  let struck = false;
  let moves = 0;
  let pending = 0;
  let moving = Promise.resolve();

  /** Moves the namespace to the operator that does not have it. */
  function move(): Promise<void> {
    const shard = moves % 2 === 0 ? OTHER : null;
    moves += 1;
    pending += 1;
    const body = { metadata: { labels: { [SHARD]: shard } } };
    const path = `/api/v1/namespaces/${namespace}`;
    moving = moving
      .then(() => admin.request({ method: "PATCH", path, contentType: "application/merge-patch+json", body }))
      .then(() => {
        pending -= 1;
      });
    return moving;
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
      // No byte of a call to the platform leaves after its deadline: one that has not arrived by then is lost.
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
