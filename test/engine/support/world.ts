import { claimOf, openIntent } from "../../../src/engine/state/object.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import type { PlatformCall } from "../../../src/platform/calls/transport.ts";
import { fakeApiServer } from "./fake-api-server.ts";
import { fakePlatform } from "./fake-platform.ts";
import { BEGIN, SETTINGS, stage } from "./stage.ts";
import { type Choose, type Fate, linksOf, type Process, type Waiting } from "./world-links.ts";

/** As long as the settle time allows. */
const LONGEST_INVISIBLE = SETTINGS.settleMs;

const turns = async (count = 4) => {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
};

/**
 * The real engine on an API server and a platform that outlast its processes. Before and after every effect it waits to be
 * told to go on; what becomes of a call, and how old an answer is, is chosen by the scenario.
 */
export function world(
  objects: readonly KubeObject[],
  choose: Choose,
  { fate, met, shards = 1 }: { fate: () => Fate; met: (what: string, of?: string) => void; shards?: number },
) {
  const platform = fakePlatform();
  const api = fakeApiServer(...objects);
  let time = 0;
  const now = () => BEGIN + time;
  platform.setClock(now);
  /** Work that the platform does later, by its own clock. */
  const due: { at: number; happen: () => void; of?: Process | undefined }[] = [];
  const later = (ms: number, happen: () => void, of?: Process) => void due.push({ at: time + ms, happen, of });
  const drawPace = () => {
    const invisible = choose(0, 1000, LONGEST_INVISIBLE, 3 * LONGEST_INVISIBLE);
    const takes = Math.max(invisible, choose(2000, 100_000));
    const fails = choose(false, true);
    // A resource that is in no log either is not invisible for longer than the settle time.
    return { invisible, takes, fails, unlogged: choose(0, Math.min(invisible, LONGEST_INVISIBLE)) };
  };
  /** Of what is executed late, drawn when it was sent: by then the scenario may have no choices left. */
  let drawn: ReturnType<typeof drawPace> | undefined;
  const drawExecution = (call: PlatformCall) => {
    const pace = drawPace();
    return () => {
      drawn = pace;
      try {
        platform.execute(call);
      } catch {
        // Its object is gone by now.
      } finally {
        drawn = undefined;
      }
    };
  };
  platform.setPace({
    made(item, logged, remove) {
      const { invisible, takes, fails, unlogged } = drawn ?? drawPace();
      item.visibleAt = now() + invisible;
      logged.loggedAt = now() + unlogged;
      item.state = "BUSY";
      logged.status = "BUSY";
      later(takes, () => {
        item.state = "AVAILABLE";
        logged.status = fails ? "FAILED" : "DONE";
        if (fails) remove();
      });
    },
    removing(item, logged, remove) {
      item.state = "BUSY";
      logged.status = "BUSY";
      later(3000, () => {
        logged.status = "DONE";
        remove();
      });
    },
  });

  const keyOf = ({ kind, metadata }: KubeObject) => `${kind}/${metadata.namespace}/${metadata.name}`;
  const waiting: Waiting[] = [];
  const gate = (process: Process, on: Waiting["on"]) =>
    new Promise<void>((resolve) => void waiting.push({ process, on, resume: resolve }));
  const ground = { platform, api, choose, fate, met, gate, time: () => time, later, drawExecution };
  const { clientOf, connectionOf } = linksOf(ground);

  let lives = 0;
  /** The shard to which each object belongs, whoever knows of it. */
  const belongs = new Map<string, number>();
  const shardOf = (key: string) => belongs.get(key) ?? 0;
  function begin(skewMs: number, shard: number, pod = `pod-${lives}`): Process {
    lives++;
    const box: { process?: Process } = {};
    const self = () => {
      if (!box.process) throw new Error("the process has not begun");
      return box.process;
    };
    const life = stage(objects, {
      platform,
      api: Object.create(api, { client: { value: clientOf(self) } }),
      connection: connectionOf(self),
      wallTime: now() + skewMs,
      pod,
    });
    const name = lives;
    const known = new Map(belongs);
    const process: Process = { name, pod, life, shard, known, leads: true, running: new Set() };
    box.process = process;
    life.deps.shards = {
      serves: (key) => (process.known.get(key) ?? 0) === shard,
      divided: () => shards > 1,
    };
    let nonces = 0;
    life.deps.nonce = () => `nonce-${name}-${++nonces}`;
    life.deps.guard = () => {
      if (!process.leads) throw new Error("the lease is lost");
    };
    return process;
  }
  for (const [nth, object] of objects.entries()) belongs.set(keyOf(object), nth % shards);
  const leaders = Array.from({ length: shards }, (_, shard) => begin(0, shard));
  const leaderOf = (key: string) => leaders[shardOf(key)] ?? begin(0, 0);
  const oneLeader = () => {
    const [first = begin(0, 0), ...others] = leaders;
    return others.length > 0 ? choose(first, ...others) : first;
  };
  const succeed = ({ shard }: Process, pod?: string) => {
    leaders[shard] = begin(choose(0, 90_000, -90_000), shard, pod);
  };
  /** The events of the watches. */
  const sync = ({ life, known }: Process) => {
    life.sync();
    for (const [key, shard] of belongs) {
      if ((known.get(key) ?? 0) === shard) continue;
      known.set(key, shard);
      life.deps.memories.handOver(key);
      life.deps.collections.leave(key);
    }
  };
  /** Those that have lost the lease and still live. */
  let former: Process[] = [];

  const stored = (object: KubeObject) => api.get(object);
  const resume = async (index: number) => {
    const [next] = waiting.splice(index, 1);
    next?.resume();
    await turns();
  };

  return {
    platform,
    api,
    /** Lets the leader look at an object, or, where it does so already, go on with it. */
    async step(object: KubeObject, watched = choose(true, true, true, false)) {
      const key = keyOf(object);
      const others = leaders.filter((each) => each !== leaderOf(key));
      const process = others.length > 0 ? choose(leaderOf(key), leaderOf(key), ...others) : leaderOf(key);
      if (watched) sync(process);
      const isIdle = !process.life.deps.shards.serves(key) || !process.life.objects.find(key);
      if (!isIdle && shardOf(key) !== process.shard) met("a pass of the shard before");
      if (process.running.has(key) || isIdle) {
        if (waiting.length > 0) await resume(choose(0, ...waiting.keys()));
        return;
      }
      process.running.add(key);
      // A pass that fails is made again, as the queue does.
      void process.life
        .pass(key)
        .then(
          ({ decision }) => met(decision.step, `process ${process.name}: ${key} ${JSON.stringify(decision)}`),
          () => met("a failed pass", `process ${process.name}: ${key}`),
        )
        .finally(() => process.running.delete(key));
      await turns();
    },
    /** Everybody who waits goes on, in their order, until nobody does. */
    async drain() {
      for (let count = 0; waiting.length > 0 && count < 200; count++) await resume(0);
    },
    async advance(ms: number) {
      for (const end = time + ms; time < end; ) {
        time = Math.min(end, time + 2000);
        for (const each of due.splice(0).sort((a, b) => a.at - b.at)) {
          if (each.at <= time) each.happen();
          else due.push(each);
        }
        const passed = Math.min(2000, ms);
        for (const { life } of [...leaders, ...former]) await life.clock.advance(passed);
      }
    },
    /**
     * The process ends in the middle of whatever it does; another one begins, in the same pod or in another. What a dead
     * process has sent is still on its way, in the kernel or a proxy: it is executed then, now, or never.
     */
    crash() {
      const leader = oneLeader();
      for (const each of due.filter(({ of }) => of === leader)) {
        const becomes = choose("then", "now", "never");
        if (becomes === "then") continue;
        due.splice(due.indexOf(each), 1);
        if (becomes === "now") each.happen();
      }
      const isSame = choose(true, true, false);
      met(isSame ? "a restart in the same pod" : "a restart in another pod");
      for (let index = waiting.length - 1; index >= 0; index--) {
        if (waiting[index]?.process !== leader) continue;
        waiting.splice(index, 1);
        met("a crash in the middle");
      }
      leader.life.deps.collections.close();
      succeed(leader, isSame ? leader.pod : undefined);
    },
    /** Somebody changes the label of a namespace. */
    move(object: KubeObject) {
      const key = keyOf(object);
      if (waiting.some(({ process }) => process.running.has(key))) met("a move in the middle");
      belongs.set(key, (shardOf(key) + 1) % shards);
    },
    /** Another one takes over; what this one has sent is still on its way. */
    async takeOver() {
      const leader = oneLeader();
      if (waiting.some(({ process }) => process === leader)) met("two leaders at once");
      leader.leads = false;
      // The next holder gets the lease seconds later: calls that were sent to the API server before have arrived.
      const isOver = ({ process, on }: Waiting) => process === leader && on === "Kubernetes";
      while (waiting.some(isOver)) await resume(waiting.findIndex(isOver));
      former = [...former, leader].slice(-2);
      succeed(leader);
    },
    remove(object: KubeObject) {
      const current = stored(object);
      if (!current || current.metadata.deletionTimestamp) return;
      if (!current.metadata.finalizers?.length) return void api.remove(current);
      api.markDeleted(current);
    },
    /** A person removes what an object owns, and has that looked at. */
    removeByHand(object: KubeObject) {
      const current = stored(object);
      const id = current && claimOf(current)?.id;
      const item = platform.items.entries().find(([key]) => key.slice(key.lastIndexOf("/") + 1) === id);
      if (id !== undefined && item && item[1].state !== "BUSY") platform.removeByHand(id);
      leaderOf(keyOf(object)).life.deps.collections.refresh(keyOf(object));
    },
    /** Claims by object, of those that are left. */
    owned: () =>
      objects.flatMap((object) => {
        const current = stored(object);
        return current ? [{ name: object.metadata.name, claim: claimOf(current) }] : [];
      }),
    /** The resources on the platform, seen or not. */
    there: () => [...platform.items.keys()].map((key) => key.slice(key.lastIndexOf("/") + 1)),
    leaving: () => objects.filter((object) => stored(object)?.metadata.deletionTimestamp !== undefined),
    isAtRest: () =>
      due.length === 0 &&
      waiting.length === 0 &&
      objects.every((object) => {
        const current = stored(object);
        if (!current) return true;
        const { request, conditions = [] } = readStatus(current);
        const ready = conditions.some(({ type, status }) => type === "Ready" && status === "True");
        return ready && !request && !openIntent(current) && !current.metadata.deletionTimestamp;
      }),
    close() {
      for (const { life } of [...leaders, ...former]) life.deps.collections.close();
    },
  };
}
export type World = ReturnType<typeof world>;
