import { createServer } from "node:http";
import { gunzipSync } from "node:zlib";
import { CreateBucketCommand, GetObjectCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { clientFor } from "../../clients/s3/client.ts";
import { atEnd } from "../../ending.ts";
import { api, type Landscape, landscape } from "../landscape.ts";
import { logPipeline } from "../objects.ts";

const simulated = z.looseObject({
  endpoints: z.looseObject({ objectStorage: z.string() }),
  s3: z.object({ accessKey: z.string(), secretKey: z.string() }),
});
const entry = z.looseObject({
  time: z.string(),
  action: z.string(),
  meta: z.looseObject({ requestId: z.string() }),
  event: z.looseObject({ type: z.string() }),
});
const hits = z.object({ hits: z.object({ hits: z.array(z.object({ _source: entry })) }) });
const lines = z.object({ items: z.array(z.looseObject({ record: entry })) });

let world: Landscape;
let storage: ReturnType<typeof clientFor>;
let secretKey: string;

const exported = (name: string, destination: object) => ({
  apiVersion: api,
  kind: "ActivityLogExport",
  metadata: { name },
  spec: { destination, reads: "Exclude" },
});

beforeAll(async () => {
  world = await landscape();
  const ready = world
    .printed()
    .split("\n")
    .find((line) => line.includes('"endpoints"'));
  const { endpoints, s3 } = simulated.parse(JSON.parse(ready ?? ""));
  storage = clientFor(endpoints.objectStorage, s3);
  ({ secretKey } = s3);
  await storage.send(new CreateBucketCommand({ Bucket: "audit" }));
  await world.apply(
    { apiVersion: "v1", kind: "Secret", metadata: { name: "s3" }, stringData: s3 },
    logPipeline("audit", { logs: [{ source: "generic", tag: "audit", protocol: "http" }] }),
    exported("files", { bucket: { name: "audit", prefix: "log/", secretRef: { name: "s3" } } }),
    exported("lines", { logPipelineRef: { name: "audit" } }),
  );
  await world.untilReady("activitylogexport/files", "activitylogexport/lines", "logpipeline/audit");
});

const watermark = (name: string) => world.value(name, "{.status.watermark.time}");

/** The entries from the platform itself. */
async function logged(): Promise<z.output<typeof entry>[]> {
  const contract = await world.value("account/main", "{.status.contractNumber}");
  const answer = await world.platform.call("GET", `/activitylog/v1/contracts/${contract}?limit=1000`);
  const all = hits.parse(answer).hits.hits.map(({ _source }) => _source);
  return all.filter(({ event }) => event.type !== "Read");
}

/** Advances the platform's clock, triggers the export, and waits until all earlier entries are delivered. */
async function delivered(name: string): Promise<z.output<typeof entry>[]> {
  const all = await logged();
  await world.platform.call("POST", "/_simulator/advance", { seconds: 120 });
  await expect
    .poll(async () => {
      await world.annotate(name, `mooring.dev/reconcile-at=${Date.now()}`);
      return Number(await world.value(name, "{.status.entriesDelivered}"));
    }, patience)
    .toBe(all.length);
  return all;
}
const patience = { timeout: 60_000, interval: 300 };

async function stored(): Promise<{ keys: string[]; entries: z.output<typeof entry>[] }> {
  const { Contents = [] } = await storage.send(new ListObjectsV2Command({ Bucket: "audit" }));
  const keys = Contents.map(({ Key = "" }) => Key);
  const files = await Promise.all(
    keys.map(async (Key) => {
      const { Body } = await storage.send(new GetObjectCommand({ Bucket: "audit", Key }));
      return gunzipSync((await Body?.transformToByteArray()) ?? "").toString();
    }),
  );
  const entries = files.flatMap((text) =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => entry.parse(JSON.parse(line))),
  );
  return { keys, entries };
}

/** In a stable order: equal entries have the same fields in any order. */
const sorted = (all: z.output<typeof entry>[]) => all.toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)));
const keyOf = ({ time, meta, event }: z.output<typeof entry>) => `${time} ${meta.requestId} ${event.type}`;

describe("ActivityLogExport", () => {
  it("copies every entry into the bucket once, in files of their hour", async () => {
    const ipBlock = {
      apiVersion: api,
      kind: "IPBlock",
      metadata: { name: "one" },
      spec: { location: "de/txl", size: 1 },
    };
    await world.apply(ipBlock);
    await world.untilReady("ipblock/one");
    const all = await delivered("activitylogexport/files");
    const { keys, entries } = await stored();
    expect(sorted(entries)).toEqual(sorted(all));
    expect(entries).toContainEqual(expect.objectContaining({ action: "ip.ipblock.reserve" }));
    for (const key of keys) expect(key).toMatch(/^log\/\d{4}\/\d\d\/\d\d\/\d\d\/\d{7}-[0-9a-f]{16}\.ndjson\.gz$/);
  });

  it("sends every entry to the LogPipeline", async () => {
    const all = await delivered("activitylogexport/lines");
    const id = await world.value("logpipeline/audit", "{.status.id}");
    const { items } = lines.parse(await world.platform.call("GET", `/_simulator/lines?pipeline=${id}`));
    expect(sorted(items.map(({ record }) => record))).toEqual(sorted(all));
  });

  it("shows its progress in columns, messages and metrics, and never a key", async () => {
    const { stdout } = await world.kubectl("get", "ale", "files");
    expect(stdout).toMatch(
      /NAME\s+READY\s+REASON\s+ENTRIES\s+DELIVERED-UNTIL\s+PAUSED\s+AGE\nfiles\s+True\s+Available\s+\d+\s+20/,
    );
    const time = await world.operator.metric("mooring_activity_export_watermark_timestamp_seconds", 'name="files"');
    expect(time).toBe(Date.parse(await watermark("activitylogexport/files")) / 1000);
    const said = `${await world.describe("activitylogexport/files")}${world.operator.log()}`;
    expect(said).not.toContain(secretKey);
  });

  it("says what is wrong with the destination, and goes on when it is right again", async () => {
    await world.apply(exported("files", { bucket: { name: "nowhere", prefix: "log/", secretRef: { name: "s3" } } }));
    await world.apply({
      apiVersion: api,
      kind: "IPBlock",
      metadata: { name: "two" },
      spec: { location: "de/txl", size: 1 },
    });
    await world.untilReady("ipblock/two");
    await world.platform.call("POST", "/_simulator/advance", { seconds: 120 });
    await world.annotate("activitylogexport/files", "mooring.dev/reconcile-at=now");
    await world.untilReason("activitylogexport/files", "DestinationRefused");
    await expect
      .poll(() => world.describe("activitylogexport/files"))
      .toMatch(/Warning\s+DestinationRefused\s.*PUT \/nowhere\/log/);
    await world.apply(exported("files", { bucket: { name: "audit", prefix: "log/", secretRef: { name: "s3" } } }));
    const all = await delivered("activitylogexport/files");
    const { entries } = await stored();
    expect(sorted(entries)).toEqual(sorted(all));
    expect(entries.filter(({ action }) => action === "ip.ipblock.reserve").length).toBeGreaterThan(3);
  });

  it("goes at once, and leaves what it has delivered", async () => {
    const before = (await stored()).keys;
    await world.remove("activitylogexport/files", "activitylogexport/lines");
    await world.untilGone("activitylogexport/files");
    expect((await stored()).keys).toEqual(before);
  });
});

describe("an ActivityLogExport whose delivery got no answer", () => {
  it("delivers the same object again after a restart, and what came late meanwhile in another one", async () => {
    const minute = 60_000;
    const begin = Date.now() - (Date.now() % minute) - 4 * minute;
    const entryAt = (ms: number, action: string) => ({ time: new Date(begin + ms).toISOString(), action });
    const log = [entryAt(1, "first"), entryAt(2, "second")];
    const stored = new Map<string, string[]>();
    const puts: string[] = [];
    let isLost = true;
    const contract = await world.value("account/main", "{.status.contractNumber}");
    const upstream = await world.value("account/main", "{.spec.endpoints.api}");
    /** A platform whose log the test writes, and an object storage whose first answers are lost. */
    const server = createServer(async (request, response) => {
      const url = new URL(request.url ?? "", "http://127.0.0.1");
      if (request.method === "PUT") {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk);
        const text = gunzipSync(Buffer.concat(chunks)).toString().trimEnd();
        puts.push(url.pathname);
        stored.set(
          url.pathname,
          text.split("\n").map((line) => entry.pick({ action: true }).parse(JSON.parse(line)).action),
        );
        if (!isLost) return response.end();
        if (log.length === 2) log.push(entryAt(0, "late"), entryAt(3, "late as well"));
        return request.socket.destroy();
      }
      response.setHeader("content-type", "application/json");
      if (url.pathname.startsWith("/activitylog/")) {
        const { dateStart = "", dateEnd = "", offset = "0" } = Object.fromEntries(url.searchParams);
        const found = log.filter(({ time }) => time >= dateStart && time < dateEnd).map((_source) => ({ _source }));
        return response.end(JSON.stringify({ hits: { total: found.length, hits: found.slice(Number(offset)) } }));
      }
      const headers = { authorization: request.headers.authorization ?? "" };
      const answer = await fetch(new URL(`${url.pathname}${url.search}`, upstream), { headers });
      response.statusCode = answer.status;
      return response.end(await answer.text());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    atEnd(async () => void server.close());
    const address = z.object({ port: z.int() }).parse(server.address());
    const endpoint = `http://127.0.0.1:${address.port}`;
    const spec = {
      accountRef: { name: "relay" },
      from: new Date(begin).toISOString(),
      destination: { bucket: { name: "lost", endpoint, region: "de", secretRef: { name: "s3" } } },
    };
    await world.apply(
      {
        apiVersion: api,
        kind: "Account",
        metadata: { name: "relay" },
        spec: {
          endpoints: { api: endpoint },
          contractNumber: Number(contract),
          credentialsSecretRef: { name: "token" },
        },
      },
      { apiVersion: api, kind: "ActivityLogExport", metadata: { name: "lost" }, spec },
    );
    await expect.poll(() => puts.length, patience).toBeGreaterThan(0);
    await world.operator.stop();
    isLost = false;
    await world.anotherOperator();
    await expect
      .poll(async () => Number(await world.value("activitylogexport/lost", "{.status.entriesDelivered}")), patience)
      .toBe(log.length);
    expect([...stored.values()].sort()).toEqual([
      ["first", "second"],
      ["late", "late as well"],
    ]);
    expect(new Set(puts).size).toBe(2);
  });
});
