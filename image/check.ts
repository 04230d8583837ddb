import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { spawnGuarded } from "../src/cli/control-plane/guarded.ts";
import { startCluster } from "../src/cli/control-plane/start.ts";
import { applyObject, applySamples, install, writeOperatorKubeconfig } from "../src/cli/demo/install.ts";
import { readRows } from "../src/cli/demo/table.ts";
import { connect } from "../src/kube/client/config.ts";
import type { KubeClient } from "../src/kube/client/transport.ts";
import { type Steering, steer } from "../test/cluster/steering.ts";
import { apart, IMAGE, root, type Storage } from "./build.ts";

/** The settings of the restricted profile and of the chart. */
const restricted = ["--read-only", "--read-only-tmpfs=false", "--cap-drop=ALL", "--security-opt=no-new-privileges"];
/** Settings that allow a container on this machine without an engine. */
const here = ["--network=host", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024", "--pull=never", "--rm"];

const NAMESPACE = "image-check";
const READY_MS = 180_000;
/** The default of `terminationGracePeriodSeconds`. */
const GRACE_MS = 30_000;
const REST_MS = 10_000;
/** The resource that the operator is creating when it gets the signal to end, and the platform's response time. */
const LAST = "last";
const ANSWER_SECONDS = 3;

const simulatorReady = z.object({ endpoints: z.record(z.string(), z.string()), token: z.string() });
const datacenter = z.object({ status: z.object({ id: z.string().optional() }).optional() });
const lease = z.object({ spec: z.object({ holderIdentity: z.string().nullish() }) });

/** Runs operator and simulator from the image against a local control plane, and reports each check. */
export async function checkImage(storage: Storage, say: (line: string) => void): Promise<boolean> {
  let passed = true;
  const check = (what: string, is: boolean) => {
    say(`${is ? "ok  " : "FAIL"}        ${what}`);
    passed &&= is;
  };
  await using cleanup = new AsyncDisposableStack();
  const cluster = await startCluster({ controllerManager: true });
  cleanup.defer(() => cluster.stop());
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  cleanup.defer(() => client.close());
  await install(client);
  const kubeconfig = join(storage.folder, "kubeconfig");
  await writeOperatorKubeconfig(client, cluster.kubeconfig, kubeconfig);
  // The user of the image does not exist on this machine, and the folder is closed to other users.
  const readable = join(storage.folder, "readable");
  writeFileSync(readable, readFileSync(kubeconfig), { mode: 0o644 });

  const simulator = await contain(storage, [], ["simulator", "--json", "--speed", "20", "--kafka", "off"]);
  cleanup.defer(() => simulator.kill());
  const { endpoints, token } = simulatorReady.parse(JSON.parse(simulator.firstLine));
  const addresses = Object.entries(endpoints).flatMap(([name, url]) => ["--endpoint", `${name}=${url}`]);
  const mount = ["--volume", `${readable}:/kubeconfig:ro`];
  const operator = await contain(storage, mount, ["operator", "--json", "--kubeconfig", "/kubeconfig", ...addresses]);
  cleanup.defer(() => operator.kill());
  const { uid, capabilities, newPrivileges, root } = confinement(operator.pid);
  check(`runs as user ${uid}`, uid === "65532");
  check(`has no capabilities (${capabilities}) and cannot get any`, /^0+$/.test(capabilities) && newPrivileges === "1");
  check(`its root is mounted read-only`, root.includes("ro"));

  await applySamples(client, NAMESPACE, { token }, ["compute", "observability"]);
  const late = await notReady(client);
  check(
    `samples are Ready${late.length > 0 ? `, but not ${late.join(", ")}\n${operator.output()}` : ""}`,
    late.length === 0,
  );
  await delay(REST_MS);
  say(`memory      ${statusOf(operator.pid, "VmRSS")} of the operator at rest`);

  const made = await creationUnderWay(client, steer(endpoints.api ?? "", token));
  const started = performance.now();
  process.kill(operator.pid, "SIGTERM");
  const code = await Promise.race([operator.ended, delay(GRACE_MS, "late" as const, { ref: false })]);
  check(`SIGTERM ends it in ${Math.round(performance.now() - started)} ms with code ${code}`, code === 0);
  const path = `/apis/mooring.dev/v1alpha1/namespaces/${NAMESPACE}/datacenters/${LAST}`;
  const { status } = datacenter.parse(await client.request({ method: "GET", path }));
  check("what it was creating is in status", status?.id === made);
  const leasePath = "/apis/coordination.k8s.io/v1/namespaces/mooring-system/leases/mooring";
  const { spec } = lease.parse(await client.request({ method: "GET", path: leasePath }));
  check("it has given its Lease back", !spec.holderIdentity);
  return passed;
}

/** Applies a Datacenter. Returns the id of the new resource while the platform's answer is still pending. */
async function creationUnderWay(client: KubeClient, platform: Steering): Promise<string> {
  await platform.faults({ fault: "slow", route: "POST /cloudapi/v6/datacenters", seconds: ANSWER_SECONDS });
  const metadata = { name: LAST, namespace: NAMESPACE };
  await applyObject(client, {
    apiVersion: "mooring.dev/v1alpha1",
    kind: "Datacenter",
    metadata,
    spec: { location: "de/txl" },
  });
  const deadline = performance.now() + READY_MS;
  for (;;) {
    const made = (await platform.resources("datacenters")).find(({ properties }) => properties?.name?.includes(LAST));
    if (made) return made.id;
    if (performance.now() > deadline) throw new Error("the operator has not begun to create a Datacenter");
    await delay(50);
  }
}

interface Contained {
  /** The process id of `mooring` outside of the container. */
  pid: number;
  firstLine: string;
  output(): string;
  ended: Promise<number>;
  kill(): Promise<void>;
}

/** Runs a command of the image and waits for its first line. */
async function contain({ flags, env }: Storage, options: string[], command: string[]): Promise<Contained> {
  const podman = ["podman", ...flags, "--cgroup-manager=cgroupfs", "--runtime=runc", "run"];
  const [program = "", ...args] = [...apart, ...podman, ...here, ...restricted, ...options, IMAGE, ...command];
  const child = spawnGuarded(program, args, { cwd: root, env, output: "pipe" });
  const { stdout, stderr, ended, kill } = child;
  if (!stdout || !stderr || child.pid === undefined) throw new Error("podman could not be started");
  let output = "";
  for (const stream of [stdout, stderr]) stream.setEncoding("utf8").on("data", (chunk) => (output += chunk));
  const first = await createInterface({ input: stdout })[Symbol.asyncIterator]().next();
  if (first.done) throw new Error(`${command[0]} in the container ended with ${await ended}:\n${output}`);
  const pid = descendants(child.pid).find((each) => commandOf(each).startsWith("/usr/local/bin/node"));
  if (pid === undefined) throw new Error(`${command[0]} is not among the processes of its container`);
  return { pid, firstLine: first.value, output: () => output, ended, kill };
}

const descendants = (pid: number): number[] => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
};
const commandOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, "utf8");
const statusOf = (pid: number, field: string): string =>
  new RegExp(`^${field}:\\s*(.*)$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "";

/** The restrictions of a process, as the kernel reports them. */
function confinement(pid: number) {
  const mounts = readFileSync(`/proc/${pid}/mountinfo`, "utf8")
    .split("\n")
    .map((line) => line.split(" "));
  return {
    uid: statusOf(pid, "Uid").split("\t")[0] ?? "",
    capabilities: statusOf(pid, "CapBnd"),
    newPrivileges: statusOf(pid, "NoNewPrivs"),
    root: mounts.find(([, , , , where]) => where === "/")?.[5]?.split(",") ?? [],
  };
}

/** Waits for all objects to be Ready. Returns those that are not, with the reason. */
async function notReady(client: KubeClient): Promise<string[]> {
  const deadline = performance.now() + READY_MS;
  for (;;) {
    const rows = await readRows(client, NAMESPACE, Date.now());
    const late = rows.filter(({ ready }) => ready !== "True");
    if (late.length === 0 || performance.now() > deadline) {
      return rows.length === 0 ? ["any"] : late.map(({ kind, name, message }) => `${kind}/${name} (${message})`);
    }
    await delay(500);
  }
}
