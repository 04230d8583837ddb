import { readStatus } from "../../../../src/engine/status/status.ts";
import type { KubeObject } from "../../../../src/kube/resource.ts";
import { Retry } from "../../../../src/platform/answers/errors.ts";
import type { PlatformCall } from "../../../../src/platform/calls/transport.ts";
import { hashBody } from "../../../../src/runtime/hash.ts";
import { intending, intentOf, objectOf } from "../../support/fixtures.ts";
import { SETTINGS } from "../../support/stage.ts";

export const spec = { name: "same", location: "de/txl" };
export const body = { properties: { name: "same", location: "de/txl" } };
export const call = "POST /datacenters";
export const A = "Datacenter/shop/a";
export const B = "Datacenter/shop/b";

export const fresh = (name: string): KubeObject => objectOf("Datacenter", name, { spec });
/** An object whose creation with this body got no answer. */
export const begun = (name: string, more: Parameters<typeof intentOf>[0] = {}): KubeObject =>
  objectOf("Datacenter", name, {
    spec,
    metadata: intending(name, intentOf({ hash: hashBody(body), nonce: `old-${name}`, ...more })),
  });
/** A process in another pod, which may be frozen. */
export const elsewhere = { pod: "elsewhere", process: "other", deadlineMs: SETTINGS.createDeadlineMs };
export const UNSETTLED_MS = SETTINGS.createDeadlineMs + SETTINGS.settleMs;
export const statusOf = (object: KubeObject | undefined) => object && readStatus(object);

/** Loses the answer to each of the first POSTs. */
export const loseAnswers = (count: number) => {
  let lost = 0;
  return ({ method }: PlatformCall) => {
    if (method === "POST" && lost++ < count) throw new Retry({ call, status: 0 }, "unknown");
  };
};
