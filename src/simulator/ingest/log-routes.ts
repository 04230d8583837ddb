import { z } from "zod";
import type { Call, Route } from "../http/exchange.ts";
import { isJson } from "../http/incoming.ts";
import { errorCode, invalid, refusal, servicePayload } from "../http/refusal.ts";
import { objection } from "../records/pipelines.ts";
import type { Contracts } from "../world.ts";
import { admitted } from "./access.ts";
import { BrokenInput, plain } from "./forward/messagepack.ts";

const mostBytes = 4 * 1024 * 1024;
const recordSchema = z.record(z.string(), z.unknown());
const recordsSchema = z.union([recordSchema.transform((record) => [record]), z.array(recordSchema)]);

/** Where senders without the forward protocol bring log lines: one JSON object, or an array of them, per call. */
export function logRoutes(contracts: Contracts): Route[] {
  return [
    {
      method: "POST",
      template: "/ingest/logs/{pipelineId}/{tag}",
      access: "open",
      payload: servicePayload("logging"),
      mostBytes,
      handle(call) {
        const { world, pipeline } = admitted(contracts, "logs", call);
        const { tag = "" } = call.params;
        const records = recordsIn(call);
        const reason = objection(pipeline, tag, "http");
        if (reason !== undefined) {
          world.lines.refuse(pipeline.id, records.length, reason);
          throw refusal(404, errorCode.missing, `The lines are not taken: ${reason}`);
        }
        world.lines.add(
          pipeline.id,
          records.map((record) => ({ tag, at: call.at, record })),
        );
        return { status: 204 };
      },
    },
  ];
}

function recordsIn({ headers, bytes = Buffer.alloc(0) }: Call): Record<string, unknown>[] {
  const { "content-type": type, "content-encoding": encoding = "identity" } = headers;
  if ((type !== undefined && !isJson(headers)) || encoding !== "identity") {
    throw refusal(415, errorCode.validation, "Lines must be sent as Content-Type: application/json, not compressed");
  }
  const parsed = recordsSchema.safeParse(plainJson(bytes.toString()));
  if (parsed.success) return parsed.data;
  throw invalid("(root)", "must be an object, or an array of objects");
}

function plainJson(text: string): unknown {
  try {
    return plain(JSON.parse(text));
  } catch (error) {
    if (error instanceof BrokenInput) throw invalid("(root)", error.message);
    throw invalid("(root)", "the body is not valid JSON");
  }
}
