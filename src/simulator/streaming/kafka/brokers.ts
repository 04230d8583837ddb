import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Authority, Issued } from "../../certificates.ts";
import { spawnGuarded } from "../../programs/guarded.ts";
import type { KafkaProgram } from "./program.ts";
import { type Node, settingsOf } from "./settings.ts";

export interface BrokerParts {
  program: KafkaProgram;
  /** The folder of the brokers' data; a cluster with data continues with it. */
  folder: string;
  clusterId: string;
  nodes: readonly Node[];
  authority: Authority;
  /** Of the brokers. */
  certificate: Issued;
  /** Called when a broker has exited, before it is started again. */
  onDeath(error: Error): void;
}

const options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
const quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn";
const restartMs = 1000;

/** Starts the brokers of a cluster and restarts each that exits, until the signal aborts. */
export async function startBrokers(parts: BrokerParts, signal: AbortSignal): Promise<{ ended: Promise<void> }> {
  const files = await Promise.all(parts.nodes.map((node) => prepared(parts, node, signal)));
  const running = files.map((file) => keepAlive(parts, file, signal));
  return { ended: Promise.all(running).then(() => {}) };
}

/** Starts a class of Kafka; the signal kills it. */
function runJava({ program: { java, classPath }, folder }: BrokerParts, args: string[], signal: AbortSignal) {
  signal.throwIfAborted();
  const { PATH, LANG } = process.env;
  const child = spawnGuarded(java, [...options, quiet, "-cp", classPath, ...args], folder, { PATH, LANG });
  const kill = () => void child.kill();
  signal.addEventListener("abort", kill);
  void child.ended.then(() => signal.removeEventListener("abort", kill));
  return child;
}

/** Prepares the folder of a node and returns its settings file. */
async function prepared(parts: BrokerParts, node: Node, signal: AbortSignal): Promise<string> {
  const { nodes, authority, certificate } = parts;
  const folder = join(parts.folder, `node-${node.id}`);
  const place = (name: string) => join(folder, name);
  const files = { data: place("data"), keystore: place("keystore.pem"), truststore: place("truststore.pem") };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const write = (path: string, text: string) => writeFile(path, text, { mode: 0o600 });
  await write(files.keystore, certificate.privateKey + certificate.certificate);
  await write(files.truststore, authority.certificate);
  await write(place("server.properties"), settingsOf(node, nodes, files));
  if (existsSync(join(files.data, "meta.properties"))) return place("server.properties");
  const id = Buffer.from(parts.clusterId.replaceAll("-", ""), "hex").toString("base64url");
  const args = ["kafka.tools.StorageTool", "format", `--cluster-id=${id}`, "-c", place("server.properties")];
  const format = runJava(parts, args, signal);
  const code = await format.ended;
  signal.throwIfAborted();
  if (code !== 0) throw new Error(`the storage of a broker could not be formatted\n${format.lastWords()}`);
  return place("server.properties");
}

async function keepAlive(parts: BrokerParts, settings: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const broker = runJava(parts, ["kafka.Kafka", settings], signal);
    const code = await broker.ended;
    if (signal.aborted) return;
    parts.onDeath(new Error(`a broker ended with code ${code}\n${broker.lastWords()}`));
    await delay(restartMs, undefined, { signal }).catch(() => {});
  }
}
