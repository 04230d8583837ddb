import { z } from "zod";
import type { Pems } from "../../../src/certificates/inspect.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { readOwned } from "../../../src/kube/write/owned-secret.ts";
import { objectOf, scriptedConnection } from "../support/fixtures.ts";
import { stage } from "../support/stage.ts";

export const KEY = "KafkaUser/shop/reader";
export const NAME = "reader-kafkauser";
export const secret = objectOf("Secret", NAME, { apiVersion: "v1" });
export const reader = (annotations: Record<string, string> = {}): KubeObject =>
  objectOf("KafkaUser", "reader", {
    spec: { clusterId: "72e73b81-8551-4e74-b398-fc63b39994af" },
    status: { id: "u1", parents: { cluster: "c1" }, account: "shop/main", contract: 1 },
    metadata: { name: "reader", annotations },
  });

const shownStatus = z.looseObject({
  certificate: z.looseObject({ version: z.number(), serial: z.string() }).optional(),
  advice: z.array(z.string()).optional(),
  conditions: z.array(z.looseObject({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() })),
});

/** A user of a cluster, and an operator that has claimed it. The test sets what the platform shows. */
export async function open(first: Pems, object = reader(), api?: ReturnType<typeof stage>["api"]) {
  let pems = first;
  const cluster = { id: "c1", metadata: { brokerAddresses: ["10.0.0.1:9093", "10.0.0.2:9093"] }, properties: {} };
  const connection = scriptedConnection(({ url }) => {
    const path = new URL(url).pathname;
    const user = { id: "u1", metadata: { state: "AVAILABLE" }, properties: { name: "admin" } };
    if (path.endsWith("/users")) return { items: [user] };
    if (!path.endsWith("/access")) return cluster;
    const { ca, certificate, privateKey } = pems;
    return { ...user, metadata: { certificateAuthority: ca, certificate, privateKey } };
  });
  const all = stage([object], { connection, ...(api && { api }) });
  await all.pass(KEY);
  await all.clock.advance(0);
  /** A copy of an object that a person has read and edits. */
  const annotate = (annotations: Record<string, string>) => {
    const current = all.api.get(object);
    if (current) all.api.put({ ...current, metadata: { ...current.metadata, annotations } });
    all.sync();
  };
  return {
    ...all,
    annotate,
    offer: (next: Pems) => {
      pems = next;
    },
    published: async () => (await readOwned(all.deps.client, object, NAME))?.data,
    status: () => shownStatus.parse(all.api.get(object)?.status),
    writes: () => all.api.calls.filter(({ path, method }) => path.includes("/secrets") && method !== "GET"),
    asked: () => connection.calls.filter(({ url }) => url.endsWith("/access")).length,
  };
}

export const ready = { type: "Ready", status: "True", reason: "Available" };
