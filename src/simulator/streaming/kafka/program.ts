import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { spawnGuarded } from "../../programs/guarded.ts";
import { cacheFolder, isExecutable, onPath, withProgress } from "../../programs/install.ts";
import { DirectoryTaken, lockDirectory } from "../../store/lock.ts";

/** The file that pins Kafka. The path is the same from src/ and from dist/. */
const pom = fileURLToPath(new URL("../../../../deploy/local/kafka/pom.xml", import.meta.url));
const goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";

const waysOut = "install a JDK 17 or newer and Maven, or use --kafka off, which has everything but the brokers";

/** How Kafka is started: `java -cp classPath …`. */
export interface KafkaProgram {
  java: string;
  classPath: string;
}

/** Why Kafka cannot run on this machine; undefined: it can, though it may have to be fetched first. */
export function lackFor(env: NodeJS.ProcessEnv): string | undefined {
  if (findJava(env) === undefined) return `Kafka needs Java, which was not found: ${waysOut}`;
  if (!existsSync(jarsIn(env)) && onPath("mvn", env) === undefined) {
    return `Kafka is fetched with Maven, which was not found: ${waysOut}`;
  }
  return undefined;
}

/** Java of JAVA_HOME or PATH, and Kafka from the cache, where Maven puts it once. */
export async function provideKafka(
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<KafkaProgram> {
  const lack = lackFor(env);
  if (lack !== undefined) throw new Error(lack);
  const jars = jarsIn(env);
  if (!existsSync(jars)) await fetchJars(jars, env, say, signal);
  return { java: findJava(env) ?? "java", classPath: join(jars, "*") };
}

function findJava(env: NodeJS.ProcessEnv): string | undefined {
  const home = env.JAVA_HOME ? join(env.JAVA_HOME, "bin", "java") : undefined;
  return home !== undefined && isExecutable(home) ? home : onPath("java", env);
}

const jarsIn = (env: NodeJS.ProcessEnv) => join(cacheFolder("kafka", [pom], env), "libs");

async function fetchJars(
  jars: string,
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const cache = join(jars, "..");
  await mkdir(cache, { recursive: true });
  const unlock = await waitForLock(cache, say, signal);
  const part = join(cache, "libs.part");
  try {
    if (existsSync(jars)) return;
    await rm(part, { recursive: true, force: true });
    const args = ["-q", "-B", "-f", pom, goal, "-DincludeScope=runtime", `-DoutputDirectory=${part}`];
    const maven = spawnGuarded("mvn", args, cache, env);
    signal.addEventListener("abort", () => void maven.kill());
    const code = await withProgress("fetching Kafka with Maven (once, 40 MB)", say, () => maven.ended);
    if (code !== 0) throw new Error(`Kafka could not be fetched with Maven: ${waysOut}\n${maven.lastWords()}`);
    await rename(part, jars);
  } finally {
    await rm(part, { recursive: true, force: true });
    unlock();
  }
}

/** Waits while another process fetches the same. */
async function waitForLock(directory: string, say: (line: string) => void, signal: AbortSignal): Promise<() => void> {
  for (let waited = false; ; waited = true) {
    try {
      return lockDirectory(directory);
    } catch (error) {
      if (!(error instanceof DirectoryTaken)) throw error;
      if (!waited) say(`waiting for process ${error.holder}, which fetches Kafka …`);
      await delay(200, undefined, { signal });
    }
  }
}
