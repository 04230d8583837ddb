import { compress } from "snappyjs";
import { z } from "zod";
import type { serviceFor } from "./pipelines.ts";
import type { Answer, Platform } from "./platform.ts";
import { type SentSeries, writeRequest } from "./remote-write.ts";

type Pipeline = Awaited<ReturnType<ReturnType<typeof serviceFor>["made"]>>;

export const codes = {
  validation: "paas-monitoring-100",
  unauthorized: "paas-monitoring-315",
  denied: "paas-monitoring-451",
};
export const protobuf = { "content-type": "application/x-protobuf", "content-encoding": "snappy" };
export const json = { "content-type": "application/json", "content-encoding": "snappy" };
export const plain = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };

const kept = z.object({
  items: z.array(
    z.object({
      labels: z.record(z.string(), z.string()),
      samples: z.array(z.object({ value: z.number().nullable(), timestamp: z.number() })),
    }),
  ),
});

/** Pushes to a pipeline with its key, and reads what it has kept. */
export function pusherFor(platform: Platform, pipeline: Pipeline) {
  const path = new URL(`${pipeline.endpoint}/api/v1/push`).pathname;

  function push(raw: string | Uint8Array, headers: Record<string, string>): Promise<Answer> {
    return platform.call("POST", path, undefined, {
      authorization: null,
      raw: typeof raw === "string" ? raw : new Uint8Array(raw),
      headers: { apikey: pipeline.key, ...headers },
    });
  }

  return {
    push,
    pushSeries: (...all: SentSeries[]) => push(compress(writeRequest(...all)), protobuf),
    pushJson: (value: unknown) => push(compress(Buffer.from(JSON.stringify(value))), json),
    samples: async (name: string) =>
      kept.parse(await platform.steer("GET", `samples?pipeline=${pipeline.id}&name=${name}`)).items,
  };
}
