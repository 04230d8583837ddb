import type { AccountHandle } from "../../../src/engine/accounts/accounts.ts";
import type { Intent } from "../../../src/engine/state/intent.ts";
import { EXTERNAL_ID, FINALIZER, INTENT } from "../../../src/engine/state/names.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import type { HeldSecrets } from "../../../src/kube/write/held-secrets.ts";
import type { Connection, PlatformCall, Reply } from "../../../src/platform/calls/transport.ts";

let version = 1;

/** The address of every product. */
export const API = "http://platform.test";

/** An object as a watch delivers it; every call is a newer version. One that owns something has the finalizer. */
export function objectOf(kind: string, name: string, more: Partial<KubeObject> = {}): KubeObject {
  const { metadata, ...rest } = more;
  const owns = Reflect.get(Object(rest.status), "id") !== undefined;
  return {
    apiVersion: "mooring.dev/v1alpha1",
    kind,
    metadata: {
      namespace: "shop",
      uid: `uid-${name}`,
      generation: 1,
      ...(owns && { finalizers: [FINALIZER] }),
      ...metadata,
      name,
      resourceVersion: String(++version),
    },
    ...rest,
    ...(owns && { status: { endpoint: API, ...Object(rest.status) } }),
  };
}

/** A ClusterAccount; it is open to nobody unless spec says so. */
export const clusterAccountOf = (name: string, spec: object = {}, metadata: Partial<KubeObject["metadata"]> = {}) => {
  const { metadata: all, ...rest } = objectOf("ClusterAccount", name, {
    spec: { credentialsSecretRef: { name: "cred" }, ...spec },
    metadata: { name, ...metadata },
  });
  const { namespace: _, ...none } = all;
  return { ...rest, metadata: none };
};

export const intentOf = (more: Partial<Intent> = {}): Intent => ({
  nonce: "n1",
  at: "2026-01-01T00:00:00.000Z",
  by: { pod: "mooring-0", process: "before", deadlineMs: 30_000 },
  hash: "hash",
  parents: {},
  account: "shop/main",
  endpoint: API,
  fixed: {},
  ...more,
});

/** Metadata of an object that has begun a creation. */
export const intending = (name: string, intent: Intent): KubeObject["metadata"] => ({
  name,
  finalizers: [FINALIZER],
  annotations: { [INTENT]: JSON.stringify(intent) },
});

/** Metadata of an object whose id is kept in an annotation, as its own unless another owner is named. */
export const annotated = (name: string, claim: object): KubeObject["metadata"] => ({
  name,
  finalizers: [FINALIZER],
  annotations: { [EXTERNAL_ID]: JSON.stringify({ endpoint: API, ...claim }) },
});

export const readyCondition = (status: "True" | "False" = "True") => ({
  type: "Ready",
  status,
  reason: "Available",
  message: "up to date",
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

export const datacenterSpec = { location: "de/txl" };
export const serverSpec = (datacenter: string) => ({
  datacenterRef: { name: datacenter },
  type: "VCPU",
  cores: 2,
  ram: 2048,
});

/** A connection that answers from a script and counts what it is asked. */
export function scriptedConnection(answer: (call: PlatformCall) => unknown): Connection & { calls: PlatformCall[] } {
  const calls: PlatformCall[] = [];
  return {
    id: "shop/main",
    calls,
    async send(call): Promise<Reply> {
      calls.push(call);
      return { status: 200, headers: {}, body: answer(call) };
    },
    setCredentials: () => {},
    identity: undefined,
    contractNumber: undefined,
    close: async () => {},
  };
}

export const handleOf = (key: string, more: Partial<AccountHandle> = {}): AccountHandle => ({
  key,
  connection: scriptedConnection(() => ({ items: [] })),
  endpoint: () => API,
  adoption: "Any",
  obstacle: undefined,
  ...more,
});

/** The Secret of every Account is there, with a token in it. */
export const tokens: HeldSecrets = {
  read: () => ({ known: true, value: "token" }),
  hold: async () => {},
  release: async () => {},
  forget: () => {},
  releaseOthers: async () => {},
  sync: async () => {},
  close: async () => {},
};
