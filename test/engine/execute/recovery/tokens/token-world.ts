import { expect } from "vitest";
import { readStatus } from "../../../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../../../src/kube/resource.ts";
import type { PlatformCall } from "../../../../../src/platform/calls/transport.ts";
import { fakeApiServer } from "../../../support/fake-api-server.ts";
import { fakeTokens } from "../../../support/fake-tokens.ts";
import { objectOf } from "../../../support/fixtures.ts";
import { BEGIN, stage } from "../../../support/stage.ts";

export const A = "AccessToken/shop/a";
export const SECRET = "a-accesstoken";
export const HOUR = 3_600_000;
export const token = (spec: object = {}): KubeObject =>
  objectOf("AccessToken", "a", { spec: { lifetime: "1h", ...spec } });

interface Visible {
  object: KubeObject;
  api: ReturnType<typeof fakeApiServer>;
  platform: ReturnType<typeof fakeTokens>;
  reported: string[];
}
export const worlds: Visible[] = [];

/** No world had more than two tokens, or showed one outside the Secret. */
export function checkWorlds(): void {
  for (const { api, platform, object, reported } of worlds.splice(0)) {
    expect(platform.most()).toBeLessThanOrEqual(2);
    const visible = JSON.stringify([api.get(object), api.get(objectOf("Secret", SECRET))?.metadata, reported]);
    for (const value of platform.values) expect(visible).not.toContain(value);
  }
}

/** A platform and an API server that outlive the operator's processes. */
export function open(object = token(), { behindMs = 0, isKnown = true } = {}) {
  let now = () => BEGIN;
  const platform = fakeTokens(() => now() - behindMs, isKnown ? -behindMs : 0);
  const api = fakeApiServer(object);
  const reported: string[] = [];
  let nonces = 0;
  const secret = () => api.get(objectOf("Secret", SECRET));
  const held = () => {
    const data: Record<string, string> = { ...Object(secret()?.data) };
    expect(Object.keys(data).filter((key) => key !== "token")).toEqual([]);
    return data.token === undefined ? undefined : Buffer.from(data.token, "base64").toString();
  };
  /** One process of the operator, which continues where the former one ended. */
  function live() {
    const life = stage([object], { api, connection: platform.connection, wallTime: now() });
    now = life.clock.now;
    life.deps.nonce = () => `unique-${++nonces}`;
    const found = secret();
    if (found) life.deps.published.put(found);
    /** Repeats passes and waits, until the object rests or nothing more can be done. */
    async function settle(rounds = 60): Promise<string[]> {
      const steps: string[] = [];
      for (let round = 0; round < rounds && steps.at(-1) !== "rest"; round++) {
        life.sync();
        if (!life.objects.find(A)) break;
        steps.push(...(await life.passes(A)));
        if (steps.at(-1) !== "rest") await life.clock.advance(2000);
      }
      reported.push(...life.events);
      return steps;
    }
    return { ...life, settle };
  }
  const current = () => api.get(object) ?? object;
  const annotate = (annotations: Record<string, string>) => {
    const { metadata } = current();
    api.put({ ...current(), metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } });
  };
  const remove = () => {
    const { metadata } = current();
    api.put({ ...current(), metadata: { ...metadata, deletionTimestamp: new Date(now()).toISOString() } });
  };
  const status = () => readStatus(current());
  const world = { object, platform, api, secret, held, live, annotate, remove, current, status, reported };
  worlds.push(world);
  return world;
}

export const isGeneration = ({ url }: PlatformCall) => url.includes("/tokens/generate");
