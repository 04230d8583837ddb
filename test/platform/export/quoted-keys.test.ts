import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { PlatformError } from "../../../src/platform/answers/errors.ts";
import { toBucket } from "../../../src/platform/export/bucket.ts";
import type { Destination } from "../../../src/platform/export/destination.ts";
import { toKafka } from "../../../src/platform/export/kafka.ts";
import { withoutKeys } from "../../../src/platform/export/keys.ts";
import { toLogPipeline } from "../../../src/platform/export/log-pipeline.ts";
import { transportsForFile } from "../calls/open-transports.ts";
import { type Arrived, answer, type Script, scriptedServer } from "../scripted-server.ts";

const open = transportsForFile();

const accessKey = "AKIAQ7T3M9X2V5B8N4C6";
const secretKey = "wJalr+UtnF/EMIbK7MDENG+bPxRfiCYzz0Q==";
const ingestKey = "ingestkey_51f0b2c4d6e8907a";
const window = {
  period: { from: 0, to: 60_000 },
  total: 1,
  lines: [{ id: "1", time: 0, text: '{"action":"one"}' }],
};

type Connection = ReturnType<ReturnType<typeof open>["connect"]>;
const places: Record<string, (connection: Connection, endpoint: string) => Destination> = {
  bucket: (connection, endpoint) =>
    toBucket(connection, { endpoint, bucket: "audit", prefix: "", region: "de", accessKey, secretKey }, () => {}),
  pipeline: (connection, httpAddress) =>
    toLogPipeline(connection, { httpAddress, tag: "audit", key: ingestKey }, () => {}),
};

/** The keys that a request carries, with the signature that is made of one. */
function keysIn({ headers }: Arrived): string[] {
  const signature = /Signature=(\w+)/.exec(headers.authorization ?? "")?.[1];
  return [accessKey, secretKey, ingestKey, ...(signature === undefined ? [] : [signature])];
}
const hex = (text: string) => Buffer.from(text).toString("hex");
const percent = (text: string) => hex(text).replaceAll(/../g, "%$&");
/** How a hostile endpoint may write a text. */
const spellings: [string, (text: string) => string][] = [
  ["as it is", (text) => text],
  ["in base64", (text) => Buffer.from(`x${text}`).toString("base64")],
  ["in hex", hex],
  ["percent-encoded", percent],
  ["percent-encoded twice", (text) => percent(text).replaceAll("%", "%25")],
  ["in hexadecimal character references", (text) => hex(text).replaceAll(/../g, "&#x$&;")],
  ["in decimal character references", (text) => [...text].map((each) => `&#${each.charCodeAt(0)};`).join("")],
  ["with references for its signs", (text) => text.replaceAll(/\W/g, (sign) => `&#${sign.charCodeAt(0)};`)],
  ["in hexadecimal escapes", (text) => hex(text).replaceAll(/../g, "\\x$&")],
  ["in hexadecimal digits with spaces", (text) => hex(text).replaceAll(/../g, "$& ")],
  ["in pieces", (text) => `${text.slice(1, 18)} and ${text.slice(3)}`],
];

const asJson =
  (words: (arrived: Arrived) => string): Script =>
  (arrived, response) => {
    response.writeHead(403, { "content-type": "application/json" });
    response.end(JSON.stringify({ messages: [{ errorCode: words(arrived).slice(0, 60), message: words(arrived) }] }));
  };
const asXml =
  (words: (arrived: Arrived) => string): Script =>
  (arrived, response) => {
    response.writeHead(400, { "content-type": "application/xml" });
    response.end(`<Error><Code>AccessDenied</Code><Message>${words(arrived)}</Message></Error>`);
  };

/** All that an export shows or logs when it delivers there. */
async function shown(place: string, script: Script) {
  const lines: unknown[] = [];
  const keep = (...line: unknown[]) => lines.push(line);
  let keys: string[] = [];
  await using server = await scriptedServer((arrived, response, request) => {
    keys = keysIn(arrived);
    script(arrived, response, request);
  });
  const connection = open({ log: { debug: keep, info: keep, warn: keep } }).connect("ActivityLogExport/shop/audit");
  const error = await places[place]?.(connection, server.url)
    .deliver(window)
    .catch((cause: unknown) => cause);
  expect(keys.length).toBeGreaterThan(0);
  lines.push(error, error instanceof Error ? error.stack : "");
  return { error, keys, text: inspect(lines, { depth: 12 }) };
}

const quotes = spellings.flatMap(([how, spelled]) =>
  Object.keys(places).flatMap((place) =>
    Object.entries({ JSON: asJson, XML: asXml }).map(([format, made]) => ({ place, how, format, spelled, made })),
  ),
);

describe("the keys of a destination", () => {
  it.each(quotes)("are removed from what it answers: $place, $how, $format", async ({ place, spelled, made }) => {
    const words = (arrived: Arrived) =>
      `${spelled(keysIn(arrived).join(" "))} ${keysIn(arrived).map(spelled).join(" ")}`;
    const { error, keys, text } = await shown(place, made(words));
    expect(error).toBeInstanceOf(PlatformError);
    const own = keys.filter((key) => (place === "bucket" ? key !== ingestKey : key === ingestKey));
    for (const key of own) {
      for (const [, spell] of spellings) expect(text).not.toContain(spell(key));
      for (let at = 0; at + 16 <= key.length; at++) expect(text).not.toContain(key.slice(at, at + 16));
    }
    expect(text).toContain("[redacted]");
  });

  it("are removed from its headers in the log as well", async () => {
    const location = `/requests/${ingestKey}/status`;
    const { text } = await shown("pipeline", answer(202, {}, { location }));
    expect(text).toContain("platform write");
    expect(text).not.toContain(ingestKey);
  });

  it("are removed from errors that nothing expects", async () => {
    const place = { endpoint: "https://s3.example.com", bucket: "audit", prefix: "", region: "de" };
    const malformed = { ...place, accessKey: `${accessKey}\nline2`, secretKey };
    const failed = toBucket(open({}).connect("x"), malformed, () => {}).deliver(window);
    const error = await failed.catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(Error);
    expect(inspect(error)).not.toContain(accessKey);
  });

  it("are removed from errors that nothing expects, whatever has them", async () => {
    const cause = Object.assign(new Error(`it is ${ingestKey}`), { data: ingestKey });
    const deliver = async () => {
      throw new TypeError(`there is ${Buffer.from(ingestKey).toString("base64")}`, { cause });
    };
    const to = withoutKeys({ most: 1, deliver }, [ingestKey], () => {});
    const error = await to.deliver(window).catch((thrown: unknown) => thrown);
    expect(inspect(error)).toContain("there is [redacted]");
    expect(inspect(error)).not.toContain(ingestKey);
  });

  it("are removed from the errors of Kafka", async () => {
    const privateKey = `-----BEGIN PRIVATE KEY-----\n${hex(secretKey)}\n-----END PRIVATE KEY-----`;
    const pems = { ca: privateKey, certificate: privateKey, privateKey };
    const place = { brokers: ["127.0.0.1:1"], topic: hex(secretKey), ...pems, isAllowed: () => true };
    const error = await toKafka(place, () => {})
      .deliver(window)
      .catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(Error);
    expect(inspect(error)).not.toContain(hex(secretKey).slice(0, 16));
  });
});
