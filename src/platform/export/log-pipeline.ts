import { withoutTrailing } from "../../runtime/text.ts";
import type { Line } from "../activity/progress.ts";
import type { Connection } from "../calls/connection.ts";
import type { Destination } from "./destination.ts";
import { withoutKeys } from "./keys.ts";

export interface PipelinePlace {
  httpAddress: string;
  tag: string;
  key: string;
}

const MOST_BYTES = 1024 * 1024;
const MOST = 1_000;

/** Sends JSON to the HTTP address of a log pipeline, which does not deduplicate: entries delivered again are stored twice. */
export function toLogPipeline(
  connection: Connection,
  { httpAddress, tag, key }: PipelinePlace,
  guard: () => void,
): Destination {
  const base = httpAddress.includes("://") ? httpAddress : `https://${httpAddress}`;
  const url = `${withoutTrailing(base, "/")}/${encodeURIComponent(tag)}`;
  const headers = { "content-type": "application/json", apikey: key };
  const to: Destination = {
    most: MOST,
    async deliver({ lines }) {
      for (const part of partsOf(lines)) {
        const bytes = Buffer.from(`[${part.join(",")}]`);
        await connection.send({ method: "POST", url, bytes, headers, keys: [key], product: "logs", guard });
      }
    },
  };
  return withoutKeys(to, [key], guard);
}

function* partsOf(lines: readonly Line[]): Generator<string[]> {
  let part: string[] = [];
  let size = 0;
  for (const { text } of lines) {
    const bytes = Buffer.byteLength(text);
    if (part.length > 0 && size + bytes > MOST_BYTES) {
      yield part;
      [part, size] = [[], 0];
    }
    part.push(text);
    size += bytes;
  }
  if (part.length > 0) yield part;
}
