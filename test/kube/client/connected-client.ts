import { afterEach, beforeEach, expect } from "vitest";
import { KubeError } from "../../../src/kube/client/errors.ts";
import { type ClientOptions, createClient, type KubeClient } from "../../../src/kube/client/transport.ts";
import { type FakeClock, fakeClock } from "../../fake-clock.ts";
import { type ScriptedServer, scriptedServer } from "../scripted-server.ts";

/** For each test of the file: an API server, a clock, and a client of both. */
export function clientForFile() {
  let server: ScriptedServer;
  let clock: FakeClock;
  let client: KubeClient;

  /** Replaces the client. */
  const connect = (options: Partial<ClientOptions> = {}) => {
    client = createClient({ server: server.url, clock, ...options });
  };

  beforeEach(async () => {
    server = await scriptedServer();
    clock = fakeClock();
    connect();
  });

  afterEach(async () => {
    await client.close();
    await server[Symbol.asyncDispose]();
    expect(clock.pending, "timers left behind").toBe(0);
  });

  return {
    connect,
    get server() {
      return server;
    },
    get clock() {
      return clock;
    },
    get client() {
      return client;
    },
  };
}

/** The error of the call. */
export const failure = (call: Promise<unknown>): Promise<KubeError> =>
  call.then(
    () => Promise.reject(new Error("the call succeeded")),
    (error: unknown) => (error instanceof KubeError ? error : Promise.reject(error)),
  );
