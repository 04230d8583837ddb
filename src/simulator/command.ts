import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type FaultPlan, parsePlan } from "./faults/plan.ts";
import { type Interface, interfaces } from "./http/exchange.ts";
import { bucketNameRule, isBucketName } from "./s3/buckets/records.ts";
import { type Ready, type SimulatorOptions, startSimulator } from "./start.ts";
import { lackFor } from "./streaming/kafka/program.ts";

export const usage = `Usage: mooring simulator [flags]

Simulates the cloud platform on this machine: APIs, states, delays and, on request, failures.

  --listen HOST:PORT      address to listen on (default 127.0.0.1:0, any free port)
  --data DIR              keep the state in DIR across restarts (default: in memory only)
  --contracts N           number of contracts, each with its own owner (default 1)
  --seed N                seed of ids, durations and fault probabilities (default 1)
  --speed X               speed of the platform's clock (default 1, real time)
  --interface described|public|both
                          form of the interface where the platform's description and its public
                          interface differ (default both at once)
  --faults FILE           fault plan in YAML or JSON; GET /_simulator/faults shows the active one
  --object-storage WHAT   builtin, versitygw, or the URL of another S3, with the keys in
                          MOORING_S3_ACCESS_KEY and MOORING_S3_SECRET_KEY (default builtin)
  --object-storage-listen HOST:PORT
                          address of the object storage (default: the host of --listen, any free port)
  --forward-listen HOST:PORT
                          address for log lines with the Fluentd forward protocol
                          (default: the host of --listen, any free port)
  --bucket NAME           additional bucket, besides flow-logs; repeatable
  --kafka real|off        run Apache Kafka, downloaded once with Maven, for event streaming clusters
                          (default real where Java and Maven are found, else off)
  --brokers 1|3           Kafka processes per cluster, a few hundred megabytes each (default 3;
                          with 1, topics have one copy)
  --demo-data             begin with one of everything in the first contract, 100 days old
  --json                  print one line of JSON when ready
  -h, --help              show this help

Runs until SIGINT or SIGTERM. Control endpoints for tests and demos are below /_simulator/, with the printed token.
`;

export const options = {
  listen: { type: "string" },
  data: { type: "string" },
  contracts: { type: "string" },
  seed: { type: "string" },
  speed: { type: "string" },
  interface: { type: "string" },
  faults: { type: "string" },
  "object-storage": { type: "string" },
  "object-storage-listen": { type: "string" },
  "forward-listen": { type: "string" },
  bucket: { type: "string", multiple: true },
  kafka: { type: "string" },
  brokers: { type: "string" },
  "demo-data": { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** A flag or value the user can correct. */
class UsageError extends Error {}

/** `mooring simulator`: exit code 0 after a signal, 2 for a wrong flag or value, 1 when it cannot run. */
export async function simulatorCommand(argv: string[]): Promise<number> {
  try {
    const parsed = parseFlags(argv);
    if (parsed.help) {
      process.stdout.write(usage);
      return 0;
    }
    const simulator = await startSimulator({ kafka: parsed.options.kafka ?? defaultKafka(), ...parsed.options });
    const stopped = untilSignal();
    process.stdout.write(
      parsed.json ? `${JSON.stringify({ ready: true, ...simulator.ready })}\n` : forPeople(simulator.ready),
    );
    await stopped;
    await simulator.close();
    return 0;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const isUsageError = error instanceof UsageError;
    process.stderr.write(`mooring simulator: ${message}\n${isUsageError ? "See mooring simulator --help.\n" : ""}`);
    return isUsageError ? 2 : 1;
  }
}

function parseFlags(argv: string[]): { help: boolean; json: boolean; options: SimulatorOptions } {
  const flags = readFlags(argv);
  return {
    help: flags.help ?? false,
    json: flags.json ?? false,
    options: {
      ...(flags.listen !== undefined && addressFrom("--listen", flags.listen)),
      ...(flags.data !== undefined && { data: directoryFrom(flags.data) }),
      ...(flags.contracts !== undefined && { contracts: contractsFrom(flags.contracts) }),
      ...(flags.seed !== undefined && { seed: seedFrom(flags.seed) }),
      ...(flags.speed !== undefined && { speed: speedFrom(flags.speed) }),
      ...(flags.interface !== undefined && { interface: interfaceFrom(flags.interface) }),
      ...(flags.faults !== undefined && { faults: planFrom(flags.faults) }),
      ...(flags["object-storage"] !== undefined && { objectStorage: storageFrom(flags["object-storage"]) }),
      ...storageAddressFrom(flags["object-storage-listen"]),
      ...forwardAddressFrom(flags["forward-listen"]),
      ...(flags.bucket !== undefined && { buckets: flags.bucket.map(bucketFrom) }),
      ...(flags.kafka !== undefined && { kafka: kafkaFrom(flags.kafka) }),
      ...(flags["demo-data"] && { demoData: true }),
      ...(flags.brokers !== undefined && { brokers: brokersFrom(flags.brokers) }),
    },
  };
}

function readFlags(argv: string[]) {
  try {
    return parseArgs({ args: argv, options }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function addressFrom(flag: string, text: string): { host: string; port: number } {
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/.exec(text);
  const port = Number(parts?.[3]);
  const host = parts?.[1] ?? parts?.[2];
  if (host === undefined || port > 65_535) {
    throw new UsageError(`${flag} ${text}: give it as HOST:PORT, for example 127.0.0.1:8080 or [::1]:0`);
  }
  return { host, port };
}

function interfaceFrom(text: string): Interface {
  const known = interfaces.find((each) => each === text);
  if (known === undefined) throw new UsageError(`--interface ${text}: give described, public or both`);
  return known;
}

function storageFrom(text: string): string {
  const known = text === "builtin" || text === "versitygw";
  if (!known && !(/^https?:\/\//.test(text) && URL.canParse(text))) {
    throw new UsageError(`--object-storage ${text}: give builtin, versitygw, or a URL such as https://s3.example.com`);
  }
  return text;
}

function storageAddressFrom(
  text: string | undefined,
): Pick<SimulatorOptions, "objectStorageHost" | "objectStoragePort"> {
  if (text === undefined) return {};
  const { host, port } = addressFrom("--object-storage-listen", text);
  return { objectStorageHost: host, objectStoragePort: port };
}

function forwardAddressFrom(text: string | undefined): Pick<SimulatorOptions, "forwardHost" | "forwardPort"> {
  if (text === undefined) return {};
  const { host, port } = addressFrom("--forward-listen", text);
  return { forwardHost: host, forwardPort: port };
}

function bucketFrom(text: string): string {
  if (!isBucketName(text)) throw new UsageError(`--bucket ${text}: give ${bucketNameRule}`);
  return text;
}

function kafkaFrom(text: string): "real" | "off" {
  if (text !== "real" && text !== "off") throw new UsageError(`--kafka ${text}: give real or off`);
  return text;
}

/** `real` where Kafka can run; else `off`, and the reason is printed. */
function defaultKafka(): "real" | "off" {
  const lack = lackFor(process.env);
  if (lack === undefined) return "real";
  process.stderr.write(`Event streaming has no brokers here. ${lack}\n`);
  return "off";
}

function brokersFrom(text: string): number {
  if (text !== "1" && text !== "3") throw new UsageError(`--brokers ${text}: give 1 or 3`);
  return Number(text);
}

function directoryFrom(text: string): string {
  if (text === "") throw new UsageError("--data: give a directory, or leave the flag out to keep nothing");
  return text;
}

function contractsFrom(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new UsageError(`--contracts ${text}: give a whole number from 1 to 999`);
  return Number(text);
}

function seedFrom(text: string): number {
  const seed = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(seed)) {
    throw new UsageError(`--seed ${text}: give a whole number, for example 7`);
  }
  return seed;
}

function speedFrom(text: string): number {
  const speed = Number(text);
  if (!(speed >= 0.001 && speed <= 1_000_000)) {
    throw new UsageError(`--speed ${text}: give a number from 0.001 to 1000000, for example 10 for ten times as fast`);
  }
  return speed;
}

function planFrom(file: string): FaultPlan {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`--faults ${file}: cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  try {
    return parsePlan(text);
  } catch (error) {
    throw new UsageError(`--faults ${file}: ${error instanceof Error ? error.message : error}`);
  }
}

function forPeople({ endpoints, contractNumber, username, password, token, s3, contracts }: Ready): string {
  const further = contracts.map(
    (each) => `
  contract    ${each.contractNumber}
  user        ${each.username}
  password    ${each.password}
  token       ${each.token}
  access key  ${each.s3.accessKey}
  secret key  ${each.s3.secretKey}
`,
  );
  return `The platform simulator is ready.

  API         ${endpoints.api}
  contract    ${contractNumber}
  user        ${username}
  password    ${password}
  token       ${token}
  S3          ${endpoints.objectStorage}
  access key  ${s3.accessKey}
  secret key  ${s3.secretKey}
  metrics     ${endpoints.monitoring}
  logs        ${endpoints.logging}
  streaming   ${endpoints.streaming}
  inference   ${endpoints.inference}
  DNS         ${endpoints.dns}
  TLS certs   ${endpoints.certificates}
  S3 keys     ${endpoints.objectStorageManagement}
${further.join("")}
Try:  curl -H "Authorization: Bearer $TOKEN" ${endpoints.api}/cloudapi/v6/datacenters?depth=1
Stop with Ctrl-C.
`;
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}
