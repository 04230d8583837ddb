import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { IMAGE } from "../../image/build.ts";
import { spawnGuarded } from "../../src/cli/control-plane/guarded.ts";
import { until } from "../cluster/chaos/wait.ts";

/** The node's address, at which pods reach the API server, DNS and the node. */
export const ADDRESS = "10.80.0.1";
const PODS = "10.244.0.0/24";
export const NODE = "node";
const PAUSE = "mooring.test/pause:1";
const RUNTIME = "/run/containerd/containerd.sock";

export interface Machine {
  /** Data, logs and kubeconfig of this run. */
  folder: string;
  /** Folder of kubelet, kube-proxy, kube-scheduler, dns and pause. */
  programs: string;
  /** The parent control group of all pods. */
  group: string;
}

const run = (command: string, ...args: string[]): string => execFileSync(command, args, { encoding: "utf8" });

/** Sets up an address, a route, and private folders at the paths that node programs require. */
export function settle({ folder }: Machine): void {
  const own = (path: string, name: string) => {
    mkdirSync(join(folder, name));
    run("mount", "--bind", join(folder, name), path);
  };
  run("mount", "--make-rshared", "/");
  run("mount", "-t", "tmpfs", "tmpfs", "/run");
  own("/var/lib", "lib");
  own("/var/log", "log");
  const names = join(folder, "resolv.conf");
  writeFileSync(names, `nameserver ${ADDRESS}\nsearch svc.cluster.local\noptions ndots:5\n`);
  run("mount", "--bind", names, "/etc/resolv.conf");
  run("hostname", NODE);
  run("ip", "link", "set", "lo", "up");
  run("ip", "link", "add", "node0", "type", "veth", "peer", "name", "node1");
  for (const name of ["node0", "node1"]) run("ip", "link", "set", name, "up");
  run("ip", "address", "add", `${ADDRESS}/24`, "dev", "node0");
  run("ip", "route", "add", "default", "dev", "node0");
  writeFileSync("/proc/sys/net/ipv4/ip_forward", "1");
}

function daemon({ folder }: Machine, command: string, ...args: string[]): void {
  const log = openSync(join(folder, `${command.split("/").at(-1)}.log`), "w", 0o600);
  void spawnGuarded(command, args, { cwd: folder, output: log }).ended.then((code) => {
    console.error(`${command} ended with ${code}`);
  });
}

const network = {
  cniVersion: "0.4.0",
  name: "pods",
  plugins: [
    {
      type: "bridge",
      bridge: "pods0",
      isGateway: true,
      ipMasq: true,
      hairpinMode: true,
      ipam: { type: "host-local", ranges: [[{ subnet: PODS }]], routes: [{ dst: "0.0.0.0/0" }] },
    },
    { type: "portmap", capabilities: { portMappings: true } },
  ],
};

const containerdConfig = (networks: string) => `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE}"
  # A container may not ask for more protection from the OOM killer than this one has.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${networks}"
`;

/** Starts the container runtime, with only an image for sandboxes. */
export async function startRuntime(machine: Machine): Promise<void> {
  const { folder } = machine;
  const networks = join(folder, "networks");
  mkdirSync(networks);
  writeFileSync(join(networks, "pods.conflist"), JSON.stringify(network));
  const config = join(folder, "containerd.toml");
  writeFileSync(config, containerdConfig(networks));
  daemon(machine, "containerd", "--config", config);
  await until(() => (existsSync(RUNTIME) ? undefined : "its socket is not there"), { title: "containerd" });
  ctr("images", "import", "--index-name", PAUSE, pauseImage(machine));
}

/** Imports an image into the container runtime under these tags. */
export function importImage(archive: string, repository: string, tags: readonly string[]): void {
  ctr("images", "import", "--base-name", repository, archive);
  for (const tag of tags) ctr("images", "tag", `${repository}:${IMAGE}`, `${repository}:${tag}`);
}

/** The runtime's own command, in the namespace of Kubernetes. */
export const ctr = (...args: string[]): string => run("ctr", "--address", RUNTIME, "--namespace", "k8s.io", ...args);

/** An image with one program in it. */
function pauseImage({ folder, programs }: Machine): string {
  const layout = join(folder, "pause");
  const blobs = join(layout, "blobs/sha256");
  mkdirSync(blobs, { recursive: true });
  const blob = (content: Buffer | string, mediaType: string) => {
    const hex = createHash("sha256").update(content).digest("hex");
    writeFileSync(join(blobs, hex), content);
    return { mediaType, digest: `sha256:${hex}`, size: Buffer.byteLength(content) };
  };
  const type = (name: string) => `application/vnd.oci.image.${name}`;
  const tar = join(folder, "pause-layer.tar");
  run("tar", "--create", "--file", tar, "--directory", programs, "pause");
  const layer = blob(readFileSync(tar), type("layer.v1.tar"));
  const config = blob(
    JSON.stringify({
      architecture: process.arch === "x64" ? "amd64" : process.arch,
      os: "linux",
      config: { Entrypoint: ["/pause"] },
      rootfs: { type: "layers", diff_ids: [layer.digest] },
    }),
    type("config.v1+json"),
  );
  const manifest = JSON.stringify({ schemaVersion: 2, mediaType: type("manifest.v1+json"), config, layers: [layer] });
  const manifests = [blob(manifest, type("manifest.v1+json"))];
  writeFileSync(join(layout, "index.json"), JSON.stringify({ schemaVersion: 2, manifests }));
  writeFileSync(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  const archive = join(folder, "pause.tar");
  run("tar", "--create", "--file", archive, "--directory", layout, ".");
  return archive;
}

/** Joins the cluster: starts kubelet, scheduler, kube-proxy and DNS. */
export function joinCluster(machine: Machine, kubeconfig: string): void {
  const { folder, programs, group } = machine;
  const config = join(folder, "kubelet.yaml");
  const file = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  file(
    "kubelet.yaml",
    stringify({
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      kind: "KubeletConfiguration",
      // Its network is reachable only from this run.
      authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
      authorization: { mode: "AlwaysAllow" },
      address: ADDRESS,
      cgroupDriver: "cgroupfs",
      cgroupRoot: `/${group}`,
      failCgroupV1: false,
      clusterDNS: [ADDRESS],
      clusterDomain: "cluster.local",
      containerRuntimeEndpoint: `unix://${RUNTIME}`,
      failSwapOn: false,
      evictionHard: { "memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%" },
    }),
  );
  daemon(
    machine,
    join(programs, "kubelet"),
    `--config=${config}`,
    `--kubeconfig=${kubeconfig}`,
    `--node-ip=${ADDRESS}`,
  );
  daemon(machine, join(programs, "kube-scheduler"), `--kubeconfig=${kubeconfig}`, "--leader-elect=false");
  const proxy = ["--proxy-mode=iptables", `--cluster-cidr=${PODS}`, "--conntrack-max-per-core=0"];
  daemon(machine, join(programs, "kube-proxy"), `--kubeconfig=${kubeconfig}`, `--hostname-override=${NODE}`, ...proxy);
  const zone = `.:53 {\n  bind ${ADDRESS}\n  errors\n  kubernetes cluster.local {\n    kubeconfig ${kubeconfig}\n  }\n}\n`;
  daemon(machine, join(programs, "dns"), "-conf", file("Corefile", zone));
}
