import { spawnSync } from "node:child_process";

/** Debian packages by program. */
const packages: Record<string, string> = {
  "/usr/lib/cni/bridge": "containernetworking-plugins",
  buildah: "buildah",
  conntrack: "conntrack",
  containerd: "containerd",
  iptables: "iptables",
  mmdebstrap: "mmdebstrap",
  podman: "podman",
  runc: "runc",
};

/** Installs missing programs if it runs as root; otherwise the message says what to install. */
export function provide(programs: readonly string[]): void {
  const path = `${process.env.PATH}:/usr/sbin:/sbin`;
  const has = (program: string) =>
    spawnSync("sh", ["-c", `command -v ${program}`], { env: { PATH: path } }).status === 0;
  const missing = programs.filter((program) => !has(program)).map((program) => packages[program] ?? program);
  if (missing.length === 0) return;
  const command = ["apt-get", "install", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300", ...missing];
  if (process.getuid?.() !== 0 || !has("apt-get")) {
    throw new Error(`${missing.join(", ")} missing; install it as root: ${command.join(" ")}`);
  }
  console.error(`mooring: ${command.join(" ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const [program = "", ...args] of [["apt-get", "update"], command]) {
    const { status, stdout, stderr } = spawnSync(program, args, { env, encoding: "utf8" });
    if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`);
  }
}
