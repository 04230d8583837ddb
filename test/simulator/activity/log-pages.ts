import { expect } from "vitest";
import { z } from "zod";
import type { CallOptions, Platform } from "../platform.ts";

const sourceShape = z.looseObject({
  action: z.string(),
  resource: z.string(),
  user: z.string(),
  time: z.iso.datetime(),
  meta: z.object({
    time: z.iso.datetime(),
    requestId: z.string(),
    queueRefId: z.int(),
    transactionId: z.string(),
    auditVersion: z.number(),
  }),
  principal: z.object({
    identity: z.object({ contractNumber: z.int(), username: z.string() }),
    sourceService: z.string(),
    sourceIP: z.string(),
    serviceHost: z.string(),
  }),
  event: z.looseObject({
    type: z.string(),
    status: z.string(),
    message: z.string(),
    param: z.looseObject({ action: z.string(), uri: z.string() }),
    resources: z.array(z.object({ type: z.string(), id: z.string(), action: z.array(z.string()) })),
  }),
});
const pageShape = z.object({
  hits: z.object({ total: z.int(), hits: z.array(z.object({ _source: sourceShape })) }),
});

export const pathOf = ({ ready }: Platform, query = "") => `/activitylog/v1/contracts/${ready.contractNumber}${query}`;

export async function page(platform: Platform, query: string, options?: CallOptions) {
  const answer = await platform.call("GET", pathOf(platform, query), undefined, options);
  expect(answer).toMatchObject({ status: 200 });
  const { total, hits } = pageShape.parse(answer.body).hits;
  return { total, sources: hits.map(({ _source }) => _source) };
}

export const everything = async (platform: Platform, query = "") =>
  (await page(platform, `?limit=1000${query}`)).sources;
/** Without reads. */
export const all = async (platform: Platform, query = "") =>
  (await everything(platform, query)).filter(({ event }) => event.type !== "Read");
export const summaryOf = (sources: z.infer<typeof sourceShape>[]) =>
  sources.map(({ action, event }) => `${event.type} ${event.status} ${action}`);
