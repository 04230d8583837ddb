import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keystoreOf, truststoreOf } from "../../src/certificates/pkcs12.ts";
import { kafkaUser } from "../../src/kinds/streaming/kafka-user.ts";
import { provideKafka } from "../../src/simulator/streaming/kafka/program.ts";
import { type Platform, startPlatform } from "../simulator/platform.ts";
import { type Streaming, streamingOf } from "../simulator/streaming.ts";
import { consume, produce } from "./kafka-client.ts";

/** Brokers are slow on a busy machine. */
const patience = { timeout: 3 * 60_000 };
const execute = promisify(execFile);
/** Ends a client that never reads what it sent. */
const run = (program: string, args: string[]) => execute(program, args, { timeout: 120_000 });

let platform: Platform;
let streaming: Streaming;
let cluster: string;
/** The folder where the Secret is mounted. */
let mounted: string;
let secret: Record<string, string>;

beforeAll(async () => {
  mounted = mkdtempSync(join(tmpdir(), "kafka-user-"));
  platform = await startPlatform({ kafka: "real", brokers: 1 });
  streaming = await streamingOf(platform);
  cluster = await streaming.cluster();
  await streaming.untilAvailable(cluster);
  secret = await mount();
}, patience.timeout);
afterAll(async () => {
  await platform.close();
  rmSync(mounted, { recursive: true, force: true });
});

/** Writes the files that a KafkaUser publishes into the folder. Returns the text files by name. */
async function mount(): Promise<Record<string, string>> {
  const source = kafkaUser.resource?.secret?.certificate;
  if (!source) throw new Error("a KafkaUser has no certificate");
  const [, , id = ""] = cluster.split("/");
  const paths = source.paths(await streaming.userOf(cluster), { cluster: id });
  const answers = await Promise.all(paths.map(async (path) => (await streaming.call("GET", path)).body));
  const pems = source.read(answers);
  if (!pems) throw new Error("the platform shows no certificate");
  const password = "only-in-this-test";
  const stores = { keystore: await keystoreOf(pems, password), truststore: await truststoreOf(pems.ca, password) };
  const texts: Record<string, string> = {};
  for (const [name, content] of Object.entries(source.data(answers, { ...pems, ...stores, password }))) {
    // The mount path of a Pod does not exist here.
    const placed = typeof content === "string" ? content.replaceAll("/etc/kafka-user", mounted) : content;
    writeFileSync(join(mounted, name), placed, { mode: 0o600 });
    if (typeof placed === "string") texts[name] = placed;
  }
  return texts;
}

async function topic(name: string): Promise<string> {
  await streaming.untilAvailable(await streaming.topic(cluster, { name, replicationFactor: 1, numberOfPartitions: 3 }));
  return name;
}

describe("the Secret of a KafkaUser gives access to", patience, () => {
  it("a Node client, with its PEM files", async () => {
    const name = await topic("node");
    const access = {
      brokers: (secret["bootstrap.servers"] ?? "").split(","),
      certificateAuthority: secret["ca.crt"] ?? "",
      certificate: secret["tls.crt"] ?? "",
      privateKey: secret["tls.key"] ?? "",
    };
    await produce(access, name, [{ key: "node", value: "hello" }]);
    expect(await consume(access, name, 1)).toMatchObject([{ key: "node", value: "hello" }]);
  });

  it("Kafka's own client, with its stores and client.properties", async () => {
    const { java, classPath } = await provideKafka(process.env, () => {}, AbortSignal.timeout(patience.timeout));
    const program = join(import.meta.dirname, "KafkaRoundTrip.java");
    const { stdout } = await run(java, [
      "-cp",
      classPath,
      program,
      join(mounted, "client.properties"),
      await topic("java"),
    ]);
    expect(stdout.trim()).toBe("java=hello");
  });

  it("librdkafka, with librdkafka.properties", async () => {
    const folder = import.meta.dirname;
    const python = execFileSync(join(folder, "setup-librdkafka"), { encoding: "utf8" }).trim();
    const program = join(folder, "kafka_round_trip.py");
    const { stdout } = await run(python, [program, join(mounted, "librdkafka.properties"), await topic("librdkafka")]);
    expect(stdout.trim()).toBe("librdkafka=hello");
  });
});
