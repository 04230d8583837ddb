import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { schemaOf } from "../../../src/cli/manifests/schemas.ts";
import { readOver } from "../../../src/diagnostics/reader.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { offline } from "../../../src/plan/inputs/dry-run.ts";
import type { Manifests } from "../../../src/plan/inputs/manifests.ts";
import type { PlanItem } from "../../../src/plan/item.ts";
import { makePlan, type PlanAsked } from "../../../src/plan/make.ts";
import { type EndpointName, endpointUrl } from "../../../src/platform/addresses/endpoints.ts";
import type { PlatformCall } from "../../../src/platform/calls/call.ts";
import { type Connection, createTransport } from "../../../src/platform/calls/transport.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { startSimulator } from "../../../src/simulator/start.ts";
import { handleOf } from "../../engine/support/fixtures.ts";
import { stage } from "../../engine/support/stage.ts";
import { readerOf } from "../objects-reader.ts";
import { keyOf } from "../predicted.ts";

/** A write to the platform, and the object it was made for. */
export interface Write {
  object: string | undefined;
  method: string;
  path: string;
}

/** The platform makes tokens by GET. */
const createsToken = /\/tokens\/generate$/;
export const isWrite = ({ method, url }: Pick<PlatformCall, "method" | "url">): boolean =>
  !["GET", "HEAD"].includes(method) || createsToken.test(new URL(url).pathname);

const secrets = z.looseObject({
  items: z.array(
    z.looseObject({ apiVersion: z.string(), kind: z.string(), metadata: z.looseObject({ name: z.string() }) }),
  ),
});
const state = z.looseObject({});
const BUSY = /"(BUSY|PROVISIONING|DEPLOYING|CREATING|DESTROYING|UPDATING|QUEUED|RUNNING_BUSY)"/;
/** How far the clocks go on in one round. */
const ROUND_SECONDS = 20;
const MOST_ROUNDS = 60;

/** The engine of the operator on a simulated platform. All clocks stand still except in `rest`. */
export async function simulatedWorld() {
  const simulator = await startSimulator({ seed: 35, speed: 0.001 });
  const { endpoints, token, contractNumber } = simulator.ready;
  const address = (name: EndpointName) =>
    endpointUrl(z.record(z.string(), z.string()).parse(endpoints)[name] ?? "", "de/txl");
  const transport = createTransport({ clock: systemClock });
  const own = transport.connect("shop/main", { token });
  const foreign = transport.connect("people", { token });
  const writes: Write[] = [];
  /** Addresses of the reads by the operator. */
  const reads: string[] = [];
  let inFlight = 0;
  const connection: Connection = {
    ...own,
    identity: own.identity,
    contractNumber: own.contractNumber,
    async send(call) {
      inFlight++;
      if (isWrite(call)) writes.push({ object: call.object, method: call.method, path: new URL(call.url).pathname });
      else reads.push(call.url);
      try {
        return await own.send(call);
      } finally {
        inFlight--;
      }
    },
  };
  const objects: KubeObject[] = [];
  const life = stage(objects, { connection, wallTime: Date.now() });
  life.accounts.put(handleOf("shop/main", { connection, endpoint: address }));

  async function call(
    method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
  ): Promise<unknown> {
    const given = body === undefined ? {} : { body: z.looseObject({}).parse(body) };
    return (await foreign.send({ method, url: address("api") + path, ...given })).body;
  }
  const isIdle = async () => {
    const { requests, ...made } = state.parse(await call("GET", "/_simulator/state"));
    const open = Array.isArray(requests) ? requests.slice(-50) : [];
    return !BUSY.test(JSON.stringify(made)) && !/"status":"(QUEUED|RUNNING)"/.test(JSON.stringify(open));
  };
  /** All answers have arrived. */
  const quiet = async () => {
    for (let turns = 0; turns < 3; turns++) {
      await delay(0);
      if (inFlight > 0) turns = -1;
    }
  };
  const advance = async (seconds: number) => {
    await call("POST", "/_simulator/advance", { seconds });
    await life.clock.advance(seconds * 1000);
    await quiet();
  };
  const takeTurn = async (seconds: number) => {
    life.sync();
    for (const each of objects) if (life.objects.find(keyOf(each))) await life.passes(keyOf(each));
    await quiet();
    await advance(seconds);
  };
  /** The API server deletes an object without a finalizer at once. */
  function remove(object: KubeObject): void {
    const live = life.api.get(object);
    if (live?.metadata.finalizers?.length) life.api.markDeleted(live);
    else if (live) life.api.remove(live);
  }
  /** Its end is not over, or that of its previous key. */
  const isLeaving = (object: KubeObject) => {
    const live = life.api.get(object);
    return live?.metadata.deletionTimestamp !== undefined || Object(live?.status).previous !== undefined;
  };

  return {
    life,
    writes,
    reads,
    call,
    contractNumber,
    /** Another object may be in the cluster. */
    know(object: KubeObject): void {
      if (!objects.some((each) => keyOf(each) === keyOf(object))) objects.push(object);
    },
    forget(gone: readonly KubeObject[]): void {
      for (const each of gone) life.api.remove(each);
      life.sync();
      const keys = new Set(gone.map(keyOf));
      objects.splice(0, objects.length, ...objects.filter((each) => !keys.has(keyOf(each))));
    },
    /** Deletes all Secrets, as the API server does once their owners are gone. */
    async collectSecrets(): Promise<void> {
      const path = "/api/v1/namespaces/shop/secrets";
      const found = secrets.parse(await life.api.client.request({ method: "GET", path }));
      for (const each of found.items) life.api.remove(each);
    },
    live: (object: KubeObject) => life.api.get(object),
    annotate(object: KubeObject, name: string, value: string): void {
      const live = life.api.get(object) ?? object;
      const annotations = { ...live.metadata.annotations, [name]: value };
      life.api.put({ ...live, metadata: { ...live.metadata, annotations } });
    },
    /** Passes and time, whatever they change. */
    async turn(seconds: number, times = 1): Promise<void> {
      for (let nth = 0; nth < times; nth++) await takeTurn(seconds);
    },
    /** Passes and time, until several rounds in a row change nothing on either side. */
    async rest(): Promise<void> {
      let still = 0;
      for (let round = 0; still < 3; round++) {
        if (round === MOST_ROUNDS)
          throw new Error(
            `no rest: ${objects.filter(isLeaving).map((each) => JSON.stringify(life.api.get(each)))} ${JSON.stringify(writes.slice(-5))} idle ${await isIdle()}`,
          );
        const before = writes.length + Number(life.api.version);
        await takeTurn(ROUND_SECONDS);
        const isDone = writes.length + Number(life.api.version) === before && !objects.some(isLeaving);
        still = isDone && (await isIdle()) ? still + 1 : 0;
      }
    },
    /** The time in which the platform ends what was asked of it. */
    async idle(): Promise<void> {
      do await advance(ROUND_SECONDS);
      while (!(await isIdle()));
    },
    async plan(manifests: Manifests, how: Pick<PlanAsked, "prune" | "destroy">): Promise<PlanItem[]> {
      const { items } = await makePlan({
        manifests,
        cluster: { reader: readerOf(life, objects) },
        platform: async (account) => {
          if (account !== "shop/main") throw new Error(`Account ${account} not found`);
          return {
            read: readOver(foreign),
            endpoint: address,
            has: () => true,
            identity: foreign.identity,
            contractNumber: foreign.contractNumber,
            now: life.clock.now,
            storageKeys: () => Promise.reject(new Error("none")),
            storageRegion: undefined,
          };
        },
        schemaOf,
        prices: false,
        ...how,
        sources: { signal: new AbortController().signal, progress: () => {}, missing: () => {} },
      });
      return items;
    },
    /** As kubectl does: what the API server refuses is not stored. Then the deletions. */
    apply({ objects: files }: Manifests, gone: readonly KubeObject[] = []): void {
      for (const { kind, object, problem } of files) {
        const live = life.api.get(object);
        const manifest = { kind, object, ...(problem !== undefined && { problem }) };
        const { desired, refused } = offline({
          manifest,
          live,
          schema: schemaOf(kind),
          signal: new AbortController().signal,
        });
        if (!desired || refused !== undefined) continue;
        const annotations = { ...live?.metadata.annotations, ...desired.metadata.annotations };
        const uid = live?.metadata.uid ?? `uid-${object.metadata.name}`;
        const generation = desired.metadata.generation ?? 1;
        life.api.put({
          ...desired,
          metadata: { ...live?.metadata, ...desired.metadata, annotations, uid, generation },
        });
      }
      for (const each of gone) remove(each);
    },
    remove,
    async [Symbol.asyncDispose]() {
      life.deps.collections.close();
      await own.close();
      await foreign.close();
      await transport.close();
      await simulator.close();
    },
  };
}
export type SimulatedWorld = Awaited<ReturnType<typeof simulatedWorld>>;
