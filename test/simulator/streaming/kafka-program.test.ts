import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lackFor, provideKafka } from "../../../src/simulator/streaming/kafka/program.ts";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "kafka-program-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A folder of programs, each a line of shell. */
function programs(lines: Record<string, string>): string {
  const folder = mkdtempSync(join(directory, "bin-"));
  for (const [name, line] of Object.entries(lines)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `#!/bin/sh\n${line}\n`);
    chmodSync(file, 0o755);
  }
  return folder;
}

/** A Maven that copies one jar to the requested folder and records the call. */
const maven =
  'for last; do :; done; folder=$(echo "$last" | cut -d= -f2); mkdir -p "$folder"; touch "$folder/kafka.jar"; echo x >> "$CALLS"';

const never = new AbortController().signal;
const silent = () => {};

describe("Kafka", () => {
  it("is fetched once into the cache, which is told, also when two need it at once", async () => {
    const bin = programs({ java: "", mvn: maven });
    const calls = join(directory, "calls");
    const env = { PATH: `${bin}:/bin:/usr/bin`, XDG_CACHE_HOME: join(directory, "cache"), CALLS: calls };
    const said: string[] = [];
    const say = (line: string) => said.push(line);
    const [first, second] = await Promise.all([provideKafka(env, say, never), provideKafka(env, say, never)]);
    expect(second).toEqual(first);
    expect(first.java).toBe(join(bin, "java"));
    expect(first.classPath).toMatch(/cache\/mooring\/kafka-[0-9a-f]{16}\/libs\/\*$/);
    expect(readdirSync(dirname(first.classPath))).toEqual(["kafka.jar"]);
    expect(readdirSync(join(dirname(first.classPath), ".."))).toEqual(["libs"]);
    expect(said.join("\n")).toMatch(/fetching Kafka/);
    expect(said.join("\n")).toMatch(new RegExp(`waiting for process ${process.pid}`));
    await provideKafka(env, say, never);
    expect(readFileSync(calls, "utf8")).toBe("x\n");
  });

  it("runs with the Java of JAVA_HOME, if there is one", async () => {
    const home = programs({ "bin/java": "" });
    const bin = programs({ java: "", mvn: maven });
    const env = { PATH: `${bin}:/bin:/usr/bin`, XDG_CACHE_HOME: join(directory, "home"), CALLS: "/dev/null" };
    expect((await provideKafka({ ...env, JAVA_HOME: home }, silent, never)).java).toBe(join(home, "bin", "java"));
    expect((await provideKafka({ ...env, JAVA_HOME: "/nowhere" }, silent, never)).java).toBe(join(bin, "java"));
  });

  it("cannot be had without Java, nor without Maven until it was fetched, which is told with the ways out", async () => {
    const cache = join(directory, "none");
    expect(lackFor({ PATH: "/nowhere", XDG_CACHE_HOME: cache })).toMatch(/needs Java.*--kafka off/);
    const java = programs({ java: "" });
    expect(lackFor({ PATH: java, XDG_CACHE_HOME: cache })).toMatch(/Maven.*--kafka off/);
    await expect(provideKafka({ PATH: "/nowhere", XDG_CACHE_HOME: cache }, silent, never)).rejects.toThrow("Java");
    expect(lackFor({ PATH: java, XDG_CACHE_HOME: join(directory, "cache") })).toBeUndefined();
  });

  it("leaves nothing half done when Maven fails, and says what Maven said", async () => {
    const bin = programs({ java: "", mvn: "echo no route to host; exit 1" });
    const cache = join(directory, "broken");
    const env = { PATH: `${bin}:/bin:/usr/bin`, XDG_CACHE_HOME: cache };
    await expect(provideKafka(env, silent, never)).rejects.toThrow(/could not be fetched.*no route to host/s);
    const [folder = ""] = readdirSync(join(cache, "mooring"));
    expect(readdirSync(join(cache, "mooring", folder))).toEqual([]);
  });

  it("does not keep the simulator from ending while it is fetched", async () => {
    const bin = programs({ java: "", mvn: "exec sleep 600" });
    const env = { PATH: `${bin}:/bin:/usr/bin`, XDG_CACHE_HOME: join(directory, "slow") };
    const ending = new AbortController();
    const fetching = provideKafka(env, () => ending.abort(), ending.signal);
    await expect(fetching).rejects.toThrow();
  });
});
