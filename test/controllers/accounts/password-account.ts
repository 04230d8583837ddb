import { expect } from "vitest";
import { type AccountDeps, reconcileAccount } from "../../../src/controllers/accounts/reconcile.ts";
import { createTokenStore, tokenSecretName } from "../../../src/controllers/accounts/token-store.ts";
import { FINALIZER } from "../../../src/engine/state/names.ts";
import { undivided } from "../../../src/engine/state/shards.ts";
import { account } from "../../../src/kinds/identity/account.ts";
import type { KubeCall } from "../../../src/kube/client/transport.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import type { PlatformCall } from "../../../src/platform/calls/transport.ts";
import { fakeApiServer } from "../../engine/support/fake-api-server.ts";
import { API } from "../../engine/support/fake-platform.ts";
import { fakeTokens } from "../../engine/support/fake-tokens.ts";
import { objectOf, tokens } from "../../engine/support/fixtures.ts";
import { BEGIN, stage } from "../../engine/support/stage.ts";

export const KEY = "shop/main";
export const HOUR = 3_600_000;
export const spec = { endpoints: { api: API }, credentialsSecretRef: { name: "cred" }, tokenLifetime: "1h" };

interface Visible {
  object: KubeObject;
  api: ReturnType<typeof fakeApiServer>;
  platform: ReturnType<typeof fakeTokens>;
  reported: string[];
}
const worlds: Visible[] = [];

/** For `afterEach` of every file: no token and no password of its tests is in an object or an Event. */
export function noSecretIsShown() {
  for (const { api, platform, object, reported } of worlds.splice(0)) {
    const visible = JSON.stringify([api.get(object), reported]);
    for (const value of [...platform.values, platform.login.password]) expect(visible).not.toContain(value);
  }
}

/** An Account with a password, on a platform and an API server that outlive the operator's processes. */
export function open(related: KubeObject[] = [], { behindMs = 0, isKnown = true } = {}) {
  const object = objectOf("Account", "main", { spec, metadata: { name: "main", finalizers: [FINALIZER] } });
  let now = () => BEGIN;
  const platform = fakeTokens(() => now() - behindMs, isKnown ? -behindMs : 0);
  const api = fakeApiServer(object, ...related);
  const reported: string[] = [];
  const secret: Record<string, string> = { ...platform.login };
  let nonces = 0;
  worlds.push({ object, api, platform, reported });
  const secretOf = (name: string) =>
    api.get(objectOf("Secret", name, { ...home, metadata: { ...home.metadata, name } }));
  const kept = () => secretOf(tokenSecretName(KEY))?.data;
  function live(shards = undivided) {
    const life = stage([object, ...related], { api, connection: platform.connection, wallTime: now() });
    now = life.clock.now;
    life.accounts.remove(KEY);
    const deps: AccountDeps = {
      ...life.deps,
      shards,
      nonce: () => `unique-${++nonces}`,
      transport: { connect: () => platform.connection, close: async () => {} },
      secrets: { ...tokens, read: (_, __, ___, key) => ({ known: true, value: secret[key] }) },
      tokenStore: createTokenStore(life.deps, "mooring-system"),
      home: "mooring-system",
      sites: { endpoints: {}, isAllowed: () => true },
      changed: () => {},
      clusterName: () => undefined,
      hasCleanup: () => false,
    };
    async function check() {
      life.sync();
      const again = await reconcileAccount(deps, KEY, {
        kind: account,
        object: life.objects.find(`Account/${KEY}`)?.object ?? object,
      });
      reported.push(...life.events);
      return again;
    }
    /** Repeats checks and waits, until it is Ready or the time is up. */
    async function settle(rounds = 60) {
      for (let round = 0; round < rounds; round++) {
        await check();
        if (ready()?.status === "True") return;
        life.skip(2000);
      }
    }
    return { ...life, check, settle };
  }
  const status = () => Object(api.get(object)?.status);
  const ready = () => [...(status().conditions ?? [])].find(({ type }) => type === "Ready");
  return { object, api, platform, secret, live, status, ready, kept, reported };
}
const home = { apiVersion: "v1", metadata: { namespace: "mooring-system" } };
export const isGeneration = ({ url }: PlatformCall) => url.includes("/tokens/generate");
export const isKept = ({ path, method }: KubeCall) => path.includes("/mooring-system/secrets") && method !== "GET";
