import { notifyChanges } from "../../alerts.ts";
import type { Call, Route } from "../../http/exchange.ts";
import { errorCode, refusal, servicePayload } from "../../http/refusal.ts";
import { services } from "../../pipelines/kinds.ts";
import type { Series } from "../../telemetry/samples.ts";
import type { Contracts } from "../../world.ts";
import { admitted } from "../access.ts";
import { readExposition } from "./exposition.ts";
import { decodeWriteRequest } from "./remote-write.ts";
import { accepted, readJson, tooLarge, utf8 } from "./series.ts";
import { uncompressed } from "./snappy.ts";

/** Bytes of a body when it is uncompressed. */
const most = 4 * 1024 * 1024;

/** Where agents push metrics with the key of a pipeline. */
export function metricPushRoutes(contracts: Contracts): Route[] {
  return [
    {
      method: "POST",
      template: "/ingest/metrics/{pipelineId}/api/v1/push",
      access: "open",
      // Snappy makes what it cannot compress larger, by a sixth at most.
      mostBytes: Math.ceil(most * (7 / 6)) + 32,
      payload: servicePayload(services.metrics.path),
      handle(call) {
        const { world, pipeline } = admitted(contracts, "metrics", call);
        world.samples.add(pipeline.id, seriesIn(call));
        notifyChanges(world, pipeline.region);
        return { status: 204 };
      },
    },
  ];
}

/** The series of the body, read as its headers announce it. */
function seriesIn({ headers, bytes = Buffer.alloc(0), at }: Call): Series[] {
  const [type = "", ...parameters] = (headers["content-type"] ?? "")
    .split(";")
    .map((part) => part.trim().toLowerCase());
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  const snappy = encoding === "snappy";
  // Version 2 of the protocol has another message; its senders fall back to version 1 after a 415.
  const isVersion2 = parameters.some((each) => each.startsWith("proto=") && each !== "proto=prometheus.writerequest");
  if (type === "application/x-protobuf" && snappy && !isVersion2) {
    return accepted(decodeWriteRequest(uncompressed(bytes, most)));
  }
  if (type === "application/json" && snappy) return accepted(readJson(utf8(uncompressed(bytes, most))));
  if (type === "text/plain" && (snappy || encoding === "identity")) {
    const text = snappy ? uncompressed(bytes, most) : bytes;
    if (text.length > most) throw tooLarge(most);
    return readExposition(utf8(text), at);
  }
  throw refusal(
    415,
    errorCode.validation,
    "Metrics are taken as application/x-protobuf (remote write 1.0) or application/json, each with " +
      "Content-Encoding: snappy, or as text/plain",
  );
}
