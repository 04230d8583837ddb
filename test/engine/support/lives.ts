import { FINALIZER } from "../../../src/engine/state/names.ts";
import type { ObjectKey } from "../../../src/engine/state/object.ts";
import { readStatus } from "../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import type { PlatformCall } from "../../../src/platform/calls/transport.ts";
import { accessOf } from "../../certificates/issue.ts";
import { fakePipelines } from "./fake-pipelines.ts";
import { fakePlatform } from "./fake-platform.ts";
import { intending, intentOf, objectOf } from "./fixtures.ts";
import { type Stage, stage } from "./stage.ts";

export const DC = "72e73b81-8551-4e74-b398-fc63b39994af";
const parents = { datacenter: DC };
export const LANS = `/datacenters/${DC}/lans`;
export const SERVERS = `/datacenters/${DC}/servers`;
export const MADE = "2026-01-01T00:00:00Z";
const account = "shop/main";

const named = (name: string, deleting: boolean) => ({
  name,
  finalizers: [FINALIZER],
  ...(deleting && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
});

/** The possible fates of a call to the platform. */
export interface Life {
  all: Stage;
  key: ObjectKey;
  object: KubeObject;
  /** Called before each call; may throw. */
  beforeEach(hook: (call: PlatformCall) => void): void;
}

/** An object that owns an IP block; the block is there. */
export function ownedBlock(deleting: boolean, more: Partial<KubeObject> = {}, properties: object = {}): Life {
  const platform = fakePlatform();
  const body = { properties: { name: "a", location: "de/txl", size: 1, ...properties } };
  const id = platform.make("a", body, { path: "/ipblocks" });
  const object = objectOf("IPBlock", "a", {
    spec: { location: "de/txl", size: 1 },
    metadata: named("a", deleting),
    status: { id, account },
    ...more,
  });
  return { all: stage([object], { platform }), key: "IPBlock/shop/a", object, beforeEach: platform.beforeEach };
}

/** An object that owns LAN 1, which is there. */
export function ownedLan(deleting: boolean, status: object = {}): Life {
  const platform = fakePlatform();
  platform.make("a", { properties: { name: "a", public: false } }, { path: LANS, at: MADE });
  const object = objectOf("Lan", "a", {
    spec: { datacenterId: DC },
    metadata: named("a", deleting),
    status: { id: "1", parents, account, born: MADE, ...status },
  });
  return { all: stage([object], { platform }), key: "Lan/shop/a", object, beforeEach: platform.beforeEach };
}

export const NIC = { name: "first", lan: 1, dhcp: true, firewallActive: false };

/** An object that owns a server, with so many volumes that somebody has attached, and NICs as spec has them. */
export function ownedServer(
  deleting: boolean,
  {
    nics,
    volumes = 0,
    spec = {},
    properties = {},
    ...more
  }: {
    nics?: object[];
    volumes?: number;
    spec?: object;
    properties?: object;
    status?: object;
    annotations?: Record<string, string>;
    entities?: object;
  } = {},
): Life & { id: string } {
  const platform = fakePlatform();
  const body = { properties: { name: "a", type: "VCPU", cores: 2, ram: 2048, vmState: "RUNNING", ...properties } };
  const id = platform.make("a", body, {
    path: SERVERS,
    targets: ["srv-1"],
    ...(more.entities && { entities: more.entities }),
  });
  const volume = (n: number) => ({ properties: { name: `data-${n}`, type: "SSD Standard", size: 10 } });
  for (let n = 0; n < volumes; n++)
    platform.make("v", volume(n), { path: `${SERVERS}/${id}/volumes`, targets: [`vol-${n}`] });
  const object = objectOf("Server", "a", {
    spec: { datacenterId: DC, type: "VCPU", cores: 2, ram: 2048, ...(nics && { nics }), ...spec },
    metadata: { ...named("a", deleting), ...(more.annotations && { annotations: more.annotations }) },
    status: { id, parents, account, ...more.status },
  });
  return { all: stage([object], { platform }), key: "Server/shop/a", object, beforeEach: platform.beforeEach, id };
}

/** A metric pipeline that is there, and whose Secret is not. */
export function keyless(more: Partial<KubeObject> = {}): Life & { pipelines: ReturnType<typeof fakePipelines> } {
  const pipelines = fakePipelines();
  pipelines.make("mp-1", "a");
  const object = objectOf("MetricPipeline", "a", { spec: {}, status: { id: "mp-1", account, nonce: "n0" }, ...more });
  const all = stage([object], { connection: pipelines.connection });
  return { all, key: "MetricPipeline/shop/a", object, beforeEach: pipelines.beforeEach, pipelines };
}

const begun = (spec: object) => ({ spec, metadata: intending("a", intentOf({ hash: "h" })) });
function datacenter(more: Partial<KubeObject>, make = true): Life {
  const platform = fakePlatform();
  if (make) platform.make("a", { properties: { name: "a", location: "de/txl" } }, { entities: {} });
  const object = objectOf("Datacenter", "a", { spec: { location: "de/txl" }, ...more });
  return { all: stage([object], { platform }), key: "Datacenter/shop/a", object, beforeEach: platform.beforeEach };
}

export const readyOf = ({ all, object }: Pick<Life, "all" | "object">) =>
  readStatus(all.api.get(object) ?? object).conditions?.find(({ type }) => type === "Ready");

/** Passes and seconds, as the queue would have it, until `done`. */
export async function live({ all, key, object }: Life, seconds: number, done: () => boolean = () => false) {
  const steps: string[] = [];
  for (let second = 0; second < seconds && !done(); second++) {
    all.sync();
    if (!all.api.get(object)) break;
    steps.push(...(await all.passes(key)));
    await all.clock.advance(1000);
  }
  return steps;
}

const isAt = (method: string, path: RegExp) => (call: PlatformCall) =>
  call.method === method && path.test(new URL(call.url).pathname);

/** One object whose next step calls the platform, and the call that makes the step. */
export interface Calling {
  step: string;
  open: () => Life | Promise<Life>;
  fits: (call: PlatformCall) => boolean;
}

const owned = { id: "dc-a-0", account };
const SENT = {
  action: "delete",
  status: "SENDING",
  since: "2026-01-01T00:00:00.000Z",
  by: { pod: "mooring-0", process: "before", deadlineMs: 30_000 },
  call: `DELETE ${LANS}/1`,
  hash: "h",
};

/** Every step that calls the platform, by each of its ways. */
export const CALLING: readonly Calling[] = [
  { step: "create", open: () => datacenter({}, false), fits: isAt("POST", /datacenters$/) },
  {
    step: "create: catalogue",
    open: () => {
      const platform = fakePlatform();
      const spec = {
        datacenterId: DC,
        size: 10,
        type: "SSD Standard",
        imageLookup: { name: "debian", location: "de/txl" },
      };
      const object = objectOf("Volume", "a", { spec });
      return { all: stage([object], { platform }), key: "Volume/shop/a", object, beforeEach: platform.beforeEach };
    },
    fits: isAt("GET", /(images|datacenters\/[^/]+)$/),
  },
  {
    step: "adopt",
    open: () => datacenter({ spec: { location: "de/txl", externalId: "dc-a-0" } }),
    fits: isAt("GET", /datacenters\/dc-a-0$/),
  },
  {
    step: "inspect",
    open: () => datacenter({ status: owned, metadata: named("a", true) }),
    fits: ({ url }) => /datacenters\/dc-a-0\?depth=/.test(url) && !url.includes("pretty"),
  },
  { step: "search", open: () => datacenter(begun({ location: "de/txl" }), false), fits: isAt("GET", /requests$/) },
  { step: "update", open: () => ownedBlock(false, {}, { name: "other" }), fits: isAt("PATCH", /ipblocks/) },
  { step: "update once", open: () => ownedServer(false, { nics: [NIC] }), fits: isAt("POST", /nics$/) },
  { step: "detach", open: () => ownedServer(true, { volumes: 1 }), fits: isAt("DELETE", /volumes/) },
  { step: "renew a key", open: () => keyless(), fits: isAt("POST", /key$/) },
  { step: "renew a certificate", open: certified, fits: isAt("GET", /access$/) },
  { step: "recall", open: () => ownedLan(true, { request: SENT }), fits: isAt("GET", /requests$/) },
  { step: "delete", open: () => ownedBlock(true), fits: isAt("DELETE", /ipblocks/) },
  { step: "delete a number", open: () => ownedLan(true), fits: isAt("DELETE", /lans/) },
  { step: "delete a number: look", open: () => ownedLan(true), fits: isAt("GET", /lans\/1$/) },
  {
    step: "replace",
    open: () =>
      ownedBlock(false, {
        spec: { location: "de/fra", size: 1, replacePolicy: "WhenNeeded" },
        status: { id: "dc-a-0", account, nonce: "n0", fixed: { location: "other", size: "other" } },
        metadata: { ...named("a", false), annotations: { "mooring.dev/allow-data-loss": "true" } },
      }),
    fits: isAt("DELETE", /ipblocks/),
  },
  {
    step: "look at a member",
    open: () => {
      const life = ownedBlock(false);
      life.all.platform.items.clear();
      return life;
    },
    fits: isAt("GET", /ipblocks\/dc-a-0$/),
  },
];

async function certified(): Promise<Life> {
  const { ca, certificate, privateKey } = await accessOf();
  const platform = fakePlatform();
  const user = { id: "u1", metadata: { state: "AVAILABLE" }, properties: { name: "admin" } };
  const connection = platform.connectionOf("shop/main");
  let before: (call: PlatformCall) => void = () => {};
  const object = objectOf("KafkaUser", "reader", {
    spec: { clusterId: DC },
    status: { id: "u1", parents: { cluster: "c1" }, account },
  });
  const all = stage([object], {
    platform,
    connection: {
      ...connection,
      async send(call) {
        platform.calls.push(call);
        before(call);
        const path = new URL(call.url).pathname;
        const metadata = { certificateAuthority: ca, certificate, privateKey };
        const body = path.endsWith("/users") ? { items: [user] } : { ...user, metadata };
        return { status: 200, headers: {}, body };
      },
    },
  });
  return {
    all,
    key: "KafkaUser/shop/reader",
    object,
    beforeEach(hook) {
      before = hook;
    },
  };
}
