import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { provideVersitygw } from "../../src/simulator/storage/versitygw/binary.ts";
import { provideKafka } from "../../src/simulator/streaming/kafka/program.ts";

// Builds or downloads the programs of other ecosystems before the first test, so that no test timeout includes a build
// or a download. Existing programs cost nothing.

const say = (line: string) => console.log(line);

/** A script that reports on stderr, and prints the path of the program on stdout. */
const script =
  (...[path = "", ...args]: string[]) =>
  async () => {
    const { status, error } = spawnSync(join(import.meta.dirname, path), args, {
      stdio: ["ignore", "ignore", "inherit"],
    });
    if (error) throw error;
    if (status !== 0) throw new Error(`${path} failed (above)`);
  };

const programs: Record<string, () => Promise<unknown>> = {
  Kafka: () => provideKafka(process.env, say, new AbortController().signal),
  versitygw: () => provideVersitygw(process.env, say),
  "librdkafka for Python": script("../clients/setup-librdkafka"),
  "the platform's clients for Python": script("../clients/setup-platform-python"),
  Prometheus: script("../clients/setup-prometheus", "go"),
  "Prometheus of Debian": script("../clients/setup-prometheus", "debian"),
  "kstatus and Argo CD's Lua": script("../clients/setup-gitops"),
  Helm: script("../clients/setup-helm", "helm"),
  kubeconform: script("../clients/setup-helm", "kubeconform"),
  Chromium: script("../../bin/setup-browser"),
  "zsh and fish": script("../clients/setup-shells"),
};

for (const [name, provide] of Object.entries(programs)) {
  try {
    await provide();
    say(`${name}: ready`);
  } catch (error) {
    say(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
