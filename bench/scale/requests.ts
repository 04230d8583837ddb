import type { KubeClient } from "../../src/kube/client/transport.ts";

/** What the API server has counted so far. */
export interface Requests {
  /** Writes that operators send to Datacenters and Servers: neither their creation nor their deletion, but every patch. */
  writes: number;
  events: number;
}

const WRITE = /verb="(APPLY|PATCH|PUT)"/;
/** What was refused, for the object had changed meanwhile, wrote nothing. */
const DONE = /code="2\d\d"/;

export async function requestsOf(client: KubeClient): Promise<Requests> {
  const chunks = await client.stream({ method: "GET", path: "/metrics" });
  const pieces: Uint8Array[] = [];
  for await (const chunk of chunks) pieces.push(chunk);
  const lines = Buffer.concat(pieces)
    .toString("utf8")
    .split("\n")
    .filter((line) => line.startsWith("apiserver_request_total{") && DONE.test(line));
  const sum = (wanted: (line: string) => boolean) =>
    lines.filter(wanted).reduce((total, line) => total + Number(line.slice(line.lastIndexOf(" "))), 0);
  return {
    writes: sum((line) => WRITE.test(line) && /resource="(datacenters|servers)"/.test(line)),
    events: sum((line) => /resource="events"/.test(line) && /verb="(APPLY|PATCH|PUT|POST)"/.test(line)),
  };
}
