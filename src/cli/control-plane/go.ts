import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { spawnGuarded } from "./guarded.ts";

/**
 * The Go module that pins the versions of all control plane binaries. The path is the same from src/ and from dist/.
 */
export const moduleFolder = fileURLToPath(new URL("../../../deploy/local/", import.meta.url));

/** The Kubernetes version that go.mod pins, as v1.2.3. */
export function kubernetesVersion(): string {
  const version = readFileSync(`${moduleFolder}go.mod`, "utf8").match(/^\tk8s\.io\/kubernetes (v\S+)/m)?.[1];
  if (!version) throw new Error(`${moduleFolder}go.mod names no version of k8s.io/kubernetes`);
  return version;
}

export interface RunOptions {
  env: NodeJS.ProcessEnv;
  signal?: AbortSignal | undefined;
}

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a program in the module's folder. An abort kills it with all its children. */
export async function runInModule(command: string, args: string[], { env, signal }: RunOptions): Promise<Outcome> {
  signal?.throwIfAborted();
  const child = spawnGuarded(command, args, { cwd: moduleFolder, env, output: "pipe" });
  const kill = () => void child.kill();
  signal?.addEventListener("abort", kill);
  const [code, stdout, stderr] = await Promise.all([child.ended, read(child.stdout), read(child.stderr)]);
  signal?.removeEventListener("abort", kill);
  signal?.throwIfAborted();
  return { code, stdout: stdout.trim(), stderr: stderr.trim() };
}

const read = async (stream: NodeJS.ReadableStream | null) => (stream ? text(stream) : "");

/** Throws unless a suitable version of Go is installed. The message says what to do. */
export async function requireGo(binaries: readonly string[], options: RunOptions): Promise<void> {
  const needed = readFileSync(`${moduleFolder}go.mod`, "utf8").match(/^go (\d+\.\d+)/m)?.[1] ?? "";
  const waysOut = `install Go ${needed} or newer, or set KUBEBUILDER_ASSETS to a folder with ${binaries.join(", ")}`;
  const found = await runInModule("go", ["env", "GOVERSION"], options);
  if (found.code === 127) throw new Error(`Go is needed to build the control plane, and was not found: ${waysOut}`);
  if (found.code !== 0) throw new Error(`this Go cannot build the control plane (${found.stderr}): ${waysOut}`);
  if (isOlder(found.stdout.replace(/^go/, ""), needed)) {
    throw new Error(`${found.stdout} is too old to build the control plane: ${waysOut}`);
  }
}

function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number.parseFloat);
  const [needMajor = 0, needMinor = 0] = than.split(".").map(Number.parseFloat);
  return major < needMajor || (major === needMajor && minor < needMinor);
}

export async function goBuild(target: string, output: string, { env, signal }: RunOptions): Promise<void> {
  // Ignores a go.work above the checkout, omits version control stamps, and omits debug information.
  const flags = ["-buildvcs=false", "-trimpath", "-pgo=off", "-gcflags=all=-dwarf=false", "-ldflags", ldflags()];
  const own = { CGO_ENABLED: "0", GOWORK: "off", GOGC: env.GOGC ?? "400" };
  const built = await runInModule("go", ["build", ...flags, "-o", output, target], { env: { ...env, ...own }, signal });
  if (built.code !== 0) throw new Error(`go build ${target} failed:\n${built.stderr}`);
}

/** Without these flags the binaries would report a development version. */
function ldflags(): string {
  const version = kubernetesVersion();
  const [major, minor] = version.slice(1).split(".");
  const stamps = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: "clean" };
  const packages = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"];
  const settings = packages.flatMap((name) =>
    Object.entries(stamps).map(([key, value]) => `-X ${name}.${key}=${value}`),
  );
  return ["-s -w", ...settings].join(" ");
}
