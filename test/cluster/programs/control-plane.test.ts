import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { cacheFolder } from "../../../src/cli/control-plane/binaries.ts";
import { kubernetesVersion } from "../../../src/cli/control-plane/go.ts";
import { startCluster as startInThisProcess } from "../../../src/cli/control-plane/start.ts";
import { run } from "../../processes.ts";
import { program } from "../../run/program.ts";
import { cluster, kubectl, namespace, startProcess } from "../harness.ts";

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "mooring-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const readySchema = z.strictObject({ kubeconfig: z.string(), server: z.url(), assets: z.string() });

async function startCluster(args: string[] = [], env = process.env) {
  const running = await startProcess(program(), ["cluster", "--json", ...args], { env });
  const ready = readySchema.parse(running.ready);
  return {
    ...running,
    ...ready,
    folder: dirname(ready.kubeconfig),
    kubectl: kubectl(cluster().assets, ready.kubeconfig),
  };
}

/** A folder of binaries whose kube-apiserver is a script. */
function assetsWith(apiserver: string): string {
  const assets = temporaryFolder();
  symlinkSync(join(cluster().assets, "etcd"), join(assets, "etcd"));
  writeFileSync(join(assets, "kube-apiserver"), `#!/bin/sh\n${apiserver}\n`);
  chmodSync(join(assets, "kube-apiserver"), 0o755);
  return assets;
}

/** Process ids and commands of the children of `pid`. */
async function childrenOf(pid: number): Promise<{ pid: number; command: string }[]> {
  const { stdout } = await run("ps", ["-A", "-o", "pid=,ppid=,args="]);
  return stdout
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent]) => Number(parent) === pid)
    .map(([id, , command = ""]) => ({ pid: Number(id), command }));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function isListening(server: string): Promise<boolean> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(server);
    const socket = connect(Number(port), hostname);
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

describe("the control plane", () => {
  it("has the pinned version on both sides", async () => {
    const { stdout } = await cluster().kubectl(["version", "--output=json"]);
    const version = kubernetesVersion();
    expect(JSON.parse(stdout)).toMatchObject({
      clientVersion: { gitVersion: version },
      serverVersion: { gitVersion: version },
    });
  });

  it("lets a service account do what a role allows, and nothing else", async () => {
    const { kubectl } = cluster();
    const ns = await namespace();
    await kubectl(["create", "serviceaccount", "robot", "-n", ns]);
    const token = (await kubectl(["create", "token", "robot", "-n", ns])).stdout.trim();
    const asRobot = (...args: string[]) => kubectl(["--token", token, "-n", ns, ...args]);

    const refused = await asRobot("get", "configmaps");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`"system:serviceaccount:${ns}:robot" cannot list resource "configmaps"`);

    await kubectl(["create", "rolebinding", "robot", "-n", ns, "--clusterrole=view", `--serviceaccount=${ns}:robot`]);
    await expect.poll(async () => (await asRobot("get", "configmaps")).code).toBe(0);
    expect((await asRobot("get", "secrets")).stderr).toContain("Forbidden");
  });

  it("shows a certificate that only its own kubeconfig trusts, which is the user's alone", async () => {
    const { kubeconfig, server, assets } = cluster();
    const withoutCertificate = ["--kubeconfig=/dev/null", "--server", server, "--token=any", "get", "--raw=/healthz"];
    const stranger = await run(join(assets, "kubectl"), withoutCertificate);
    expect(stranger.stderr).toContain("certificate signed by unknown authority");
    expect(readFileSync(kubeconfig, "utf8")).not.toContain("insecure");
    expect(statSync(kubeconfig).mode & 0o777).toBe(0o600);
  });

  it("collects garbage and finishes the deletion of namespaces", async () => {
    const { kubectl } = cluster();
    const ns = await namespace();
    await kubectl(["create", "configmap", "owner", "-n", ns]);
    const uid = (await kubectl(["get", "configmap", "owner", "-n", ns, "-o=jsonpath={.metadata.uid}"])).stdout;
    const owned = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: "owned",
        namespace: ns,
        ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }],
      },
    };
    await kubectl(["apply", "-f", "-"], { input: JSON.stringify(owned) });
    await kubectl(["delete", "configmap", "owner", "-n", ns]);
    expect((await kubectl(["wait", "--for=delete", "configmap/owned", "-n", ns, "--timeout=60s"])).code).toBe(0);
    expect((await kubectl(["delete", "namespace", ns, "--timeout=60s"])).code).toBe(0);
  });
});

it("is usable while kube-controller-manager is still being built, and has it afterwards", async () => {
  const folder = temporaryFolder();
  const own = { XDG_CACHE_HOME: join(folder, "cache"), PATH: `${folder}:${process.env.PATH}` };
  const env: NodeJS.ProcessEnv = { ...process.env, ...own };
  delete env.KUBEBUILDER_ASSETS;
  const bin = join(cacheFolder(env), "bin");
  mkdirSync(bin, { recursive: true });
  for (const name of ["etcd", "kube-apiserver"]) symlinkSync(join(cluster().assets, name), join(bin, name));
  const go = `#!/bin/sh
[ "$1" = env ] && { echo go1.26.0; exit; }
while [ "$1" != -o ]; do shift; done
while [ ! -e "${folder}/go-on" ]; do sleep 0.05; done
ln -s "${cluster().assets}/kube-controller-manager" "$2"
`;
  writeFileSync(join(folder, "go"), go, { mode: 0o755 });
  const steps: string[] = [];
  const onBackground = (step: string) => void steps.push(step);
  const running = await startInThisProcess({ controllerManager: true, onBackground, env });
  try {
    const kubectlThere = kubectl(cluster().assets, running.kubeconfig);
    expect((await kubectlThere(["create", "namespace", "early"])).code).toBe(0);
    await expect.poll(() => steps[0], { timeout: 60_000 }).toContain("building kube-controller-manager");
    writeFileSync(join(folder, "go-on"), "");
    expect(await running.controllers).toBeUndefined();
    expect((await kubectlThere(["delete", "namespace", "early", "--timeout=60s"])).code).toBe(0);
  } finally {
    await running.stop();
  }
}, 120_000);

describe("mooring cluster", () => {
  it("prints one line, also when it loses the race for a port, and is gone after SIGTERM with all its files", async () => {
    const real = join(cluster().assets, "kube-apiserver");
    const assets = assetsWith(`[ -e "$0.tried" ] && exec "${real}" "$@"
touch "$0.tried"
echo "listen tcp: bind: address already in use"
exit 1`);
    const running = await startCluster([], { ...process.env, KUBEBUILDER_ASSETS: assets });
    expect(existsSync(join(assets, "kube-apiserver.tried"))).toBe(true);
    expect(await isListening(running.server)).toBe(true);
    expect(await running.stop()).toBe(0);
    expect(running.output().match(/^\{.*\}$/gm)).toHaveLength(1);
    expect(existsSync(running.folder)).toBe(false);
    expect(await isListening(running.server)).toBe(false);
  });

  it("leaves nothing behind when it is killed", async () => {
    const running = await startCluster();
    const children = await childrenOf(running.pid);
    expect(children.map(({ command }) => command)).toEqual(
      expect.arrayContaining([expect.stringMatching(/\/etcd$/), expect.stringMatching(/\/kube-apiserver$/)]),
    );
    running.signal("SIGKILL");
    await expect.poll(() => children.filter(({ pid }) => isAlive(pid))).toEqual([]);
    await expect.poll(() => existsSync(running.folder)).toBe(false);
    expect(await isListening(running.server)).toBe(false);
  });

  it("ends when the process that started it is gone", async () => {
    // In its own process group; otherwise it would end with the parent's group.
    const script = `require("node:child_process").spawn("${program()}", ["cluster", "--json"], { detached: true, stdio: "inherit" })`;
    const parent = await startProcess(process.execPath, ["-e", script]);
    const { kubeconfig, server } = readySchema.parse(parent.ready);
    parent.signal("SIGKILL");
    await expect.poll(() => existsSync(dirname(kubeconfig))).toBe(false);
    expect(await isListening(server)).toBe(false);
  });

  it("keeps objects and access in --data, even when it was killed, for one process at a time, and the port unless it is taken", async () => {
    const folder = join(temporaryFolder(), "kept");
    const first = await startCluster(["--data", folder]);
    expect((await first.kubectl(["create", "configmap", "kept", "--from-literal=a=b"])).code).toBe(0);

    const second = await run(program(), ["cluster", "--data", folder]);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`${folder} is in use by another "mooring cluster" (process ${first.pid})`);

    const access = readFileSync(first.kubeconfig, "utf8");
    first.signal("SIGKILL");
    await first.ended;
    const again = await startCluster(["--data", folder]);
    expect(again.server).toBe(first.server);
    expect(readFileSync(again.kubeconfig, "utf8")).toBe(access);
    expect((await again.kubectl(["get", "configmap", "kept", "-o=jsonpath={.data.a}"])).stdout).toBe("b");
    expect(await again.stop()).toBe(0);
    expect(existsSync(folder)).toBe(true);

    const squatter = createServer().listen(Number(new URL(first.server).port), "127.0.0.1");
    onTestFinished(() => void squatter.close());
    const elsewhere = await startCluster(["--data", folder]);
    expect(elsewhere.server).not.toBe(first.server);
    expect((await elsewhere.kubectl(["get", "--raw=/readyz"])).stdout).toBe("ok");
    await elsewhere.stop();
  });

  it("says why when a component dies", async () => {
    const running = await startCluster();
    const children = await childrenOf(running.pid);
    const etcd = children.find(({ command }) => command.endsWith("/etcd"));
    process.kill(z.number().parse(etcd?.pid), "SIGKILL");
    expect(await running.ended).toBe(1);
    expect(running.output()).toContain("mooring: etcd ended with code 137");
    expect(existsSync(running.folder)).toBe(false);
  });

  it("shows the end of the log when a component does not start", async () => {
    const env = { ...process.env, KUBEBUILDER_ASSETS: assetsWith("echo 'no flag for that'\nexit 3") };
    const { code, stdout, stderr } = await run(program(), ["cluster", "--json"], { env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/kube-apiserver ended with code 3\nthe end of its log:\n {2}no flag for that\n/);
  });
});
