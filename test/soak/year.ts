import { randomBytes, X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { tokenSecretName } from "../../src/controllers/accounts/token-store.ts";
import { ALLOW_DATA_LOSS } from "../../src/engine/state/names.ts";
import { readFacts, readStatus } from "../../src/engine/status/status.ts";
import { type Lifetime, lifetimeSeconds } from "../../src/kinds/fields/secrets/lifetime.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { startPlatform } from "../cluster/chaos/platform.ts";
import { openStage, type Stage } from "../cluster/chaos/stage.ts";
import { TooLate, until } from "../cluster/chaos/wait.ts";
import type { Steering } from "../cluster/steering.ts";
import { secretReader } from "../crash/lives/secrets.ts";
import { workingToken } from "../subjects/kinds/identity/access-token.ts";
import { subject as kafkaCluster } from "../subjects/kinds/streaming/kafka-cluster.ts";
import { accountSpec, brokerLan, home, inStream, manifest } from "../subjects/surroundings.ts";
import { chance } from "./chance.ts";

export interface YearOptions {
  kubeconfig: string;
  days: number;
  /** Seed for failing calls and kills of the operator. */
  seed: number;
  onProgress?(line: string): void;
}

export interface YearResult {
  /** The problems, each once, with the day. */
  problems: string[];
  /** Created tokens, the maximum per object at a time, and the kills of the operator. */
  made: number;
  most: number;
  killed: number;
  log: string;
}

/** Less than a third of the shortest lifetime, which is the rest of a token when it is due. */
const STEP_SECONDS = 6 * 3600;
const DAY_SECONDS = 86_400;
/** Steps between two kills of the operator. */
const KILL_EVERY = 7;

const trouble = [
  { fault: "response-lost", probability: 0.03 },
  { fault: "request-lost", probability: 0.03 },
  { fault: "reset", probability: 0.03 },
  { fault: "status", status: 503, probability: 0.03 },
];

/** An object with tokens. Each user has at most one of each lifetime, so that tokens can be assigned. */
interface Holder {
  kind: string;
  name: string;
  user: string;
  lifetime: Lifetime;
  /** Further fields of its spec. */
  more?: object;
}
const accounts: Holder[] = (["1d", "7d", "30d"] as const).map((lifetime) => {
  return { kind: "Account", name: `each-${lifetime}`, user: `each-${lifetime}`, lifetime };
});
const workloads: Holder[] = [
  { kind: "AccessToken", name: "daily", user: "each-7d", lifetime: "1d" },
  { kind: "AccessToken", name: "weekly", user: "each-30d", lifetime: "7d" },
  { kind: "AccessToken", name: "monthly", user: "each-1d", lifetime: "30d" },
  { kind: "AccessToken", name: "quarterly", user: "each-7d", lifetime: "90d" },
  { kind: "AccessToken", name: "twice-a-year", user: "each-30d", lifetime: "180d" },
  {
    kind: "InferenceAccess",
    name: "models",
    user: "each-1d",
    lifetime: "7d",
    more: { models: ["BAAI/bge-m3"], secretName: "models-inferenceaccess" },
  },
];
const holders = [...accounts, ...workloads];
const through = (name: string) => ({ accountRef: { name } });
/** Objects that use the Accounts: those with tokens, and a certificate with its prerequisites. */
const belongings = [
  ...workloads.map(({ kind, name, user, lifetime, more }) => ({
    kind,
    name,
    spec: { ...through(user), lifetime, ...more },
  })),
  ...[
    home,
    brokerLan,
    manifest("KafkaCluster", "stream", kafkaCluster.spec),
    manifest("KafkaUser", "client", inStream),
  ].map(({ kind, metadata, spec }) => ({ kind, name: metadata.name, spec: { ...spec, ...through("each-7d") } })),
];

const token = z.looseObject({
  userId: z.string(),
  properties: z.looseObject({ ttl: z.number() }),
});

/**
 * Runs Accounts with passwords, tokens and a certificate through many days, in steps of six hours while the operator is
 * frozen: everything in use must still work when it continues. Calls fail, and the operator is killed.
 */
export async function year({ kubeconfig, days, seed, onProgress = () => {} }: YearOptions): Promise<YearResult> {
  await using cleanup = new AsyncDisposableStack();
  const stage = cleanup.use(await openStage(kubeconfig));
  const { steering, url: api } = cleanup.use(await startPlatform({ speed: 1, seed }));
  const clockFile = join(cleanup.use(temporaryFolder("year")).path, "ahead");
  let aheadSeconds = 0;
  await writeFile(clockFile, "0");
  const flags = ["--no-leader-election", "--annotate-after", "0ms"];
  const start = () => stage.operator({ flags, time: { clockFile } });
  let operator = await start();
  const random = chance(seed);
  const problems = new Set<string>();
  let logged = "";
  let most = 0;
  let killed = 0;
  const seen = new Set<string>();
  const blame = (text: string) => problems.add(`day ${Math.floor(aheadSeconds / DAY_SECONDS)}: ${text}`);
  const now = () => Date.now() + aheadSeconds * 1000;

  const users = await moveIn(stage, steering, api);
  /** Lets time pass while the operator is frozen; `unnoticed` checks the state meanwhile. */
  const pass = async (seconds: number, unnoticed: () => Promise<void> = async () => {}) => {
    operator.signal("SIGUSR2");
    await until(
      () => {
        if (operator.exitCode() !== undefined) throw new Error(`the operator ended:\n${operator.log().slice(-2000)}`);
        return existsSync(`${clockFile}.frozen`) ? undefined : "the operator always calls somebody";
      },
      { title: "freezing", everyMs: 5 },
    );
    await rm(`${clockFile}.frozen`);
    await steering.call("POST", "/_simulator/advance", { seconds });
    aheadSeconds += seconds;
    await unnoticed();
    await writeFile(clockFile, `${aheadSeconds}\n`);
  };
  const alive = async () => {
    const all = z.array(token).parse(await steering.resources("tokens"));
    for (const [index, { kind, name, user, lifetime }] of holders.entries()) {
      const ttl = lifetimeSeconds(lifetime);
      const own = all.filter(({ userId, properties }) => userId === users[user] && properties.ttl === ttl);
      for (const each of own) seen.add(`${index} ${JSON.stringify(each)}`);
      if (own.length > 2) blame(`${kind} ${name} has more than two tokens`);
      most = Math.max(most, own.length);
    }
  };
  const rest = async (title: string, everyMs = 100) => {
    try {
      await until(
        async () => {
          await alive();
          return unrest(stage, now());
        },
        { title, everyMs },
      );
    } catch (error) {
      if (!(error instanceof TooLate)) throw error;
      blame(error.message);
    }
  };

  await until(
    async () => {
      await pass(60);
      return unrest(stage, now());
    },
    { title: "moving in", forMs: 180_000 },
  );
  const steps = Math.ceil((days * DAY_SECONDS) / STEP_SECONDS);
  for (let step = 1; step <= steps && problems.size < 10; step += 1) {
    await pass(STEP_SECONDS, async () => {
      for (const why of await broken(stage, api, now())) blame(why);
      await steering.call("PUT", "/_simulator/faults", { seed: seed + step, rules: trouble });
    });
    if (step % KILL_EVERY === 0) {
      await delay(random() * 300);
      await operator.kill();
      logged += operator.log();
      operator = await start();
      killed += 1;
    }
    await rest("at rest");
    await steering.faults();
    if (step % 120 === 0)
      onProgress(`day ${(step * STEP_SECONDS) / DAY_SECONDS}: ${seen.size} tokens, ${killed} kills`);
  }

  const everything = [...accounts, ...belongings];
  for (const { kind, name } of everything) await stage.remove(kind, name);
  const remaining = async () => {
    await pass(60);
    for (const { kind, name } of everything) if (await stage.read(kind, name)) return `${kind} ${name} is still there`;
    return undefined;
  };
  await until(remaining, { title: "moving out", forMs: 180_000 });
  const left = z.array(token).parse(await steering.resources("tokens"));
  const lifetimes = new Set(holders.map(({ lifetime }) => lifetimeSeconds(lifetime)));
  for (const { userId, properties } of left) {
    if (lifetimes.has(properties.ttl)) blame(`a token of user ${userId} is left`);
  }
  return { problems: [...problems], made: seen.size, most, killed, log: logged + operator.log() };
}

/** Creates everything for the year; resolves with the ids of the users by name. */
async function moveIn(stage: Stage, steering: Steering, api: string): Promise<Record<string, string>> {
  const users: Record<string, string> = {};
  const ground = { api, nth: 0 };
  for (const { name, lifetime } of accounts) {
    const login = { username: `${name}@example.org`, password: randomBytes(16).toString("base64url") };
    const user = await steering.call("POST", "/_simulator/users", { ...login, role: "administrator" });
    users[name] = z.looseObject({ userId: z.string() }).parse(user).userId;
    await stage.apply({ apiVersion: "v1", kind: "Secret", metadata: { name }, stringData: login });
    const spec = { ...accountSpec(ground), credentialsSecretRef: { name }, tokenLifetime: lifetime };
    await stage.apply(manifest("Account", name, spec));
  }
  for (const { kind, name, spec } of belongings) {
    await stage.apply(manifest(kind, name, spec, { [ALLOW_DATA_LOSS]: "true" }));
  }
  return users;
}

/** The first object that is not Ready, or whose renewal is overdue. */
async function unrest(stage: Stage, now: number): Promise<string | undefined> {
  const lives = new Map(
    holders.map(({ kind, name, lifetime }) => [`${kind}/${name}`, lifetimeSeconds(lifetime) * 1000]),
  );
  for (const kind of ["Account", "AccessToken", "InferenceAccess", "KafkaUser"]) {
    for (const object of await stage.list(kind)) {
      const what = `${kind}/${object.metadata.name}`;
      const ready = readStatus(object).conditions?.find(({ type }) => type === "Ready");
      if (ready?.status !== "True") return `${what} is not Ready: ${ready?.reason} ${ready?.message}`;
      const life = lives.get(what);
      const { tokenExpiresAt } = readFacts(object);
      if (life !== undefined && !(Date.parse(String(tokenExpiresAt)) - now > life / 3)) {
        return `${what} has a token that expires at ${tokenExpiresAt}`;
      }
    }
  }
  return undefined;
}

/** Credentials of workloads and Accounts that do not work. */
async function broken(stage: Stage, api: string, now: number): Promise<string[]> {
  const read = secretReader(stage.admin, stage.namespace);
  const found: string[] = [];
  for (const { kind, name } of workloads) {
    const { token = "", OPENAI_API_KEY = token } = (await read(`${name}-${kind.toLowerCase()}`)) ?? {};
    const why = await workingToken(api, OPENAI_API_KEY);
    if (why !== undefined) found.push(`${kind} ${name}: ${why}`);
  }
  for (const { name } of accounts) {
    const { token } = (await read(tokenSecretName(`${stage.namespace}/${name}`))) ?? {};
    const why = token === undefined ? "it has no token" : await workingToken(api, token);
    if (why !== undefined) found.push(`Account ${name}: ${why}`);
  }
  const { "tls.crt": certificate } = (await read("client-kafkauser")) ?? {};
  if (certificate === undefined) found.push("KafkaUser client has no certificate");
  else if (Date.parse(new X509Certificate(certificate).validTo) <= now) found.push("KafkaUser client: it has expired");
  return found;
}
