import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { apart, root } from "../../image/build.ts";
import { provide } from "../../image/tools.ts";
import { provideBinaries } from "../../src/cli/control-plane/binaries.ts";
import { spawnGuarded } from "../../src/cli/control-plane/guarded.ts";
import { progressTo } from "../../src/cli/control-plane/progress.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { makeGroup, removeGroups } from "./cgroups.ts";
import type { Given } from "./given.ts";

const usage = `usage: make test-node ARGS="[OPTION…]"

Starts a cluster with one node that runs pods (kubelet, containerd, runc), installs the chart with Helm, and looks at how
the operator's pods bear deletion, eviction, a kill, 2,000 objects and a rolling upgrade. Needs root; everything is in
namespaces of its own, and gone afterwards. Installs containerd and others of Debian when they are missing.

  --objects N    how many objects (default 2000)
  --release DIR  install this release (of \`make release\`) from a registry on this machine instead, and uninstall it
  --next DIR     with --release: upgrade to this release and back while objects are created, edited and deleted
  --image FILE   an image that \`make image\` has built (default: build one)
  --logs         keep the logs of the node's programs, and say where
  -h, --help     show this help`;

const { values } = parseArgs({
  options: {
    objects: { type: "string", default: "2000" },
    image: { type: "string" },
    release: { type: "string" },
    next: { type: "string" },
    logs: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});

/** The folder that a flag names. */
function releaseAt(flag: "release" | "next"): string | undefined {
  const folder = values[flag] && resolve(values[flag]);
  if (folder && !existsSync(join(folder, "release.json"))) throw new Error(`--${flag}: ${folder} has no release`);
  return folder;
}

/** The last line of a program; its stderr is passed on. */
function output(command: string, ...args: string[]): string {
  const { status, stdout, error } = spawnSync(command, args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw error ?? new Error(`${command} failed (above)`);
  return stdout.trim();
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const objects = Number(values.objects);
  if (!(objects >= 1)) throw new Error(`--objects: "${values.objects}" is not a number from 1 on`);
  if (process.getuid?.() !== 0) throw new Error("a node runs as root only: sudo make test-node");
  provide(["containerd", "runc", "iptables", "conntrack", "/usr/lib/cni/bridge"]);
  const progress = progressTo(process.stderr);
  await provideBinaries(["etcd", "kube-apiserver", "kube-controller-manager", "kubectl"], {
    onProgress: progress.update,
  });
  progress.end();
  const programs = output(join(root, "test/node/setup-node"));
  const helm = output(join(root, "test/clients/setup-helm"), "helm");
  const built = join(root, ".cache/image/mooring.tar");
  const release = releaseAt("release");
  const next = releaseAt("next");
  if (next && !release) throw new Error("--next needs --release");
  if (!values.image && !release) output(process.execPath, join(root, "image/main.ts"));
  const image = release ? undefined : (values.image ?? built);
  if (image && !existsSync(image)) throw new Error(`--image: ${image} does not exist`);

  await removeGroups();
  const work = temporaryFolder("node");
  const temporary = join(work.path, "tmp");
  mkdirSync(temporary);
  const given: Given = { folder: work.path, programs, group: makeGroup(), helm, image, release, next, objects };
  const [unshare = "", ...flags] = [...apart, "--net", "--uts", "--ipc"];
  const inside = [process.execPath, join(root, "test/node/inside.ts"), JSON.stringify(given)];
  const env = { ...process.env, TMPDIR: temporary };
  const node = spawnGuarded(unshare, [...flags, ...inside], { cwd: root, env, output: 1 });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void node.kill());
  const code = await node.ended;
  await removeGroups();
  if (values.logs) {
    work.keep();
    console.log(`logs: ${work.path}`);
  } else await work.remove();
  return code;
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(`make test-node: ${error instanceof Error ? error.message : String(error)}`);
  return 1;
});
