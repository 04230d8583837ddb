import { gunzipSync } from "node:zlib";
import type { DestinationDeps } from "../../../src/controllers/exports/destinations.ts";
import { reconcileExport } from "../../../src/controllers/exports/reconcile.ts";
import { activityLogExport } from "../../../src/kinds/observability/activity-log-export.ts";
import type { Requeue } from "../../../src/kube/queue/work.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import type { PlatformError } from "../../../src/platform/answers/errors.ts";
import type { Connection, PlatformCall } from "../../../src/platform/calls/transport.ts";
import { createDestinationClients } from "../../../src/platform/export/clients.ts";
import { fakeApiServer } from "../../engine/support/fake-api-server.ts";
import { objectOf } from "../../engine/support/fixtures.ts";
import { BEGIN, stage } from "../../engine/support/stage.ts";

const KEY = "ActivityLogExport/shop/audit";
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const SECRET = "s3-secret-key-value";

export interface Entry {
  time: string;
  action: string;
}
export const entry = (at: number, action: string): Entry => ({ time: new Date(at).toISOString(), action });

export const bucket = {
  name: "audit",
  endpoint: "https://s3.eu-central-3.example.com",
  prefix: "log/",
  secretRef: { name: "s3" },
};
const s3 = objectOf("Secret", "s3", {
  apiVersion: "v1",
  data: { accessKey: Buffer.from("AK").toString("base64"), secretKey: Buffer.from(`${SECRET}\n`).toString("base64") },
});

/** An export with everything that outlives the operator's processes: the API server, the log and the destination. */
export function open(
  spec: object = { destination: { bucket } },
  more: { created?: number; others?: KubeObject[]; objectStorage?: string } = {},
) {
  const { created = BEGIN, others = [], objectStorage } = more;
  const object = objectOf("ActivityLogExport", "audit", {
    spec,
    metadata: { name: "audit", creationTimestamp: new Date(created).toISOString() },
  });
  const api = fakeApiServer(object, s3, ...others);
  const log: Entry[] = [];
  const stored = new Map<string, string>();
  const sent: PlatformCall[] = [];
  const asked: PlatformCall[] = [];
  const trouble: { read?: PlatformError; deliver?: PlatformError; answer?: object } = {};
  const reported: string[] = [];
  const connectionOf = (send: (call: PlatformCall) => unknown): Connection => ({
    id: "test",
    send: async (call) => ({ status: 200, headers: {}, body: send(call) }),
    setCredentials: () => {},
    identity: undefined,
    contractNumber: 31,
    close: async () => {},
  });
  const platform = connectionOf((call) => {
    asked.push(call);
    if (trouble.read) throw trouble.read;
    const query = new URL(call.url).searchParams;
    const [from = "", to = ""] = [query.get("dateStart"), query.get("dateEnd")].map(String);
    const hits = log.filter(({ time }) => time >= from && time < to).map((_source) => ({ _source }));
    const offset = Number(query.get("offset"));
    return (
      trouble.answer ?? { hits: { total: hits.length, hits: hits.slice(offset, offset + Number(query.get("limit"))) } }
    );
  });
  const outlet = connectionOf((call) => {
    call.guard?.();
    if (trouble.deliver) throw trouble.deliver;
    sent.push(call);
    const text =
      call.method === "PUT" ? gunzipSync(call.bytes ?? "").toString() : Buffer.from(call.bytes ?? "").toString();
    stored.set(new URL(call.url).pathname, text);
    return undefined;
  });

  let now = () => BEGIN;
  function live() {
    const life = stage([object, ...others.filter(({ kind }) => kind !== "Secret")], {
      api,
      connection: platform,
      wallTime: now(),
    });
    now = life.clock.now;
    const deps: DestinationDeps = {
      ...life.deps,
      sites: { endpoints: { objectStorage }, isAllowed: (url) => url.includes("example.com") },
      destinations: createDestinationClients({ connect: () => outlet }),
    };
    async function pass(): Promise<Requeue> {
      life.sync();
      const now = life.objects.find(KEY)?.object ?? object;
      const again = await reconcileExport(deps, { key: KEY, kind: activityLogExport, object: now });
      reported.push(...life.events.splice(0));
      return again;
    }
    /** Passes until nothing happens for a while. */
    async function settle(): Promise<Requeue> {
      for (let nth = 0; nth < 2000; nth++) {
        const again = await pass();
        if (typeof again !== "object" || again.inMs > 0) return again;
      }
      throw new Error("it never rests");
    }
    return { ...life, deps, pass, settle };
  }
  const status = () => Object(api.get(object)?.status);
  const ready = () => [...(status().conditions ?? [])].find(({ type }) => type === "Ready");
  /** The entries at the destination. */
  const delivered = () =>
    [...stored.values()].flatMap((text) =>
      text
        .trim()
        .split("\n")
        .map((line): string => JSON.parse(line).action),
    );
  /** How far the platform's clock is ahead, by its Date headers. */
  const tell = (aheadMs: number) => Reflect.set(platform, "aheadMs", aheadMs);
  return { object, api, log, stored, sent, asked, trouble, reported, live, status, ready, delivered, tell };
}
