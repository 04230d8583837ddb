import { expect } from "vitest";
import { readStatus } from "../../../src/engine/status/status.ts";
import type { KubeCall } from "../../../src/kube/client/transport.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import type { PlatformCall } from "../../../src/platform/calls/transport.ts";
import { fakeClock } from "../../fake-clock.ts";
import { type FakeApiServer, fakeApiServer, isDryRun } from "./fake-api-server.ts";
import { fakePipelines } from "./fake-pipelines.ts";
import { API, fakePlatform } from "./fake-platform.ts";
import { fakeTokens } from "./fake-tokens.ts";
import { objectOf } from "./fixtures.ts";
import { accountOf, credentials, runEngine } from "./running-engine.ts";

export const MINUTE = 60_000;
export const isSecretWrite = (call: KubeCall) =>
  call.path.includes("/secrets") && !call.path.endsWith("/cred") && call.method !== "GET" && !isDryRun(call);
export const base64 = (text: string) => Buffer.from(text).toString("base64");

/** Changes every Secret that is written. */
export const hooked = (api: FakeApiServer, change: (metadata: KubeObject["metadata"]) => void) =>
  api.beforeEach((call) => {
    const body: object = Object(call.body);
    if (call.method !== "GET" && Reflect.get(body, "kind") === "Secret") change(Reflect.get(body, "metadata"));
  });

export const KINDS = {
  MetricPipeline: { spec: {}, key: "key" },
  AccessToken: { spec: { lifetime: "7d" }, key: "token" },
} as const;
export type Name = keyof typeof KINDS;

const values: { reported: string[]; secrets: readonly string[] }[] = [];
/** No value of a Secret is in what was told in any world since. */
export function expectDiscretion(): void {
  for (const { reported, secrets } of values.splice(0))
    for (const secret of secrets) expect(reported.join("\n")).not.toContain(secret);
}

/** A platform and an API server that outlast the operator's processes, with one object whose Secret holds a key. */
export function world(kind: Name) {
  const clock = fakeClock();
  const object = objectOf(kind, "a", { spec: { ...KINDS[kind].spec, accountRef: { name: "main" } } });
  const main = accountOf("main", { monitoring: API, auth: API });
  const initial = [main, credentials, object];
  const api = fakeApiServer(...initial);
  const [pipelines, tokens, others] = [fakePipelines(), fakeTokens(clock.now), fakePlatform()];
  const product = kind === "MetricPipeline" ? pipelines : tokens;
  const made = kind === "MetricPipeline" ? pipelines.keys : tokens.values;
  const isOurs = ({ url }: PlatformCall) => /\/(pipelines|tokens)\b/.test(url);
  const connect = (id: string) => ({
    ...product.connection,
    id,
    setCredentials: () => {},
    send: (call: PlatformCall) => (isOurs(call) ? product.connection : others.connectionOf(id)).send(call),
  });
  const name = `a-${kind.toLowerCase()}`;
  const reported: string[] = [];
  values.push({ reported, secrets: made });
  const secret = () => api.get(objectOf("Secret", name));
  const status = () => readStatus(api.get(object) ?? object);
  return { clock, object, initial, api, connect, name, made, reported, secret, status };
}
export type World = ReturnType<typeof world>;

/** One process of the operator. */
export async function live(
  { clock, initial, api, connect, name, reported, secret, made, status }: World,
  settle: (ms: number) => Promise<void> = clock.advance,
) {
  let lines = 0;
  const log = (fields: object, message: string) => {
    lines++;
    reported.push(JSON.stringify([fields, message]));
  };
  const events: string[] = [];
  const present = [...initial.map((each) => api.get(each) ?? each), ...[secret() ?? []].flat()];
  const engine = await runEngine(present, {
    clock,
    api,
    connect,
    shows: true,
    log: { debug: log, info: log, warn: log, error: log },
    events: {
      record: (_, type, reason, message) => {
        events.push(`${type} ${reason} ${message}`);
        reported.push(message);
      },
      flush: async () => {},
      close: async () => {},
    },
  });
  await settle(2 * MINUTE);
  reported.push(JSON.stringify(api.get(initial[2] ?? credentials)));
  /** Somebody changes the Secret. */
  const edit = async (change: (secret: KubeObject) => void, restMs = 2 * MINUTE) => {
    const edited = structuredClone(secret() ?? objectOf("Secret", name));
    change(edited);
    engine.put(edited);
    await clock.advance(restMs);
  };
  const relabel = (label: string, value: string | undefined, restMs?: number) =>
    edit(({ metadata }) => {
      const { [label]: _, ...rest } = metadata.labels ?? {};
      metadata.labels = { ...rest, ...(value !== undefined && { [label]: value }) };
    }, restMs);
  const annotate = (annotation: string, value: string | undefined, restMs?: number) =>
    edit(({ metadata }) => {
      const { [annotation]: _, ...rest } = metadata.annotations ?? {};
      metadata.annotations = { ...rest, ...(value !== undefined && { [annotation]: value }) };
    }, restMs);
  const enter = (entry: string, value: string, restMs?: number) =>
    edit((it) => {
      it.data = { ...Object(it.data), [entry]: base64(value) };
    }, restMs);
  const start = { keys: made.length, writes: api.calls.length, lines, events: events.length };
  /** The Events since the object was first at rest. */
  const counts = () => {
    const since = api.calls.slice(start.writes);
    return {
      keys: made.length - start.keys,
      secretWrites: since.filter(isSecretWrite).length,
      statusWrites: since.filter(({ path, method }) => path.endsWith("/status") && method !== "GET").length,
      lines: lines - start.lines,
    };
  };
  const news = () => events.slice(start.events);
  const ready = () => status().conditions?.find(({ type }) => type === "Ready");
  return { ...engine, edit, relabel, annotate, enter, counts, news, ready };
}

/** The key in the Secret. */
export const valueIn = ({ secret, object }: World) => {
  const data: object = Object(secret()?.data);
  const { key } = KINDS[object.kind === "AccessToken" ? "AccessToken" : "MetricPipeline"];
  return Buffer.from(String(Reflect.get(data, key)), "base64").toString();
};
