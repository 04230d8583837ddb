import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const MOUNT = "/sys/fs/cgroup";
const PREFIX = "mooring-node-";

/** The hierarchies of cgroup v1, or the one of v2. */
const hierarchies = (): string[] =>
  existsSync(join(MOUNT, "cgroup.controllers"))
    ? [MOUNT]
    : readdirSync(MOUNT)
        .map((name) => join(MOUNT, name))
        .filter((path) => existsSync(join(path, "cgroup.procs")));

/** Creates the parent group of all pods, and returns its name. */
export function makeGroup(): string {
  const name = `${PREFIX}${process.pid}`;
  for (const hierarchy of hierarchies()) {
    const group = join(hierarchy, name);
    mkdirSync(group);
    // A new group must be given processors and memory before use.
    for (const file of ["cpuset.cpus", "cpuset.mems"]) {
      if (existsSync(join(group, file))) writeFileSync(join(group, file), readFileSync(join(hierarchy, file)));
    }
  }
  return name;
}

/** Removes the groups of former nodes, and of this process after its node has ended. */
export async function removeGroups(): Promise<void> {
  for (const hierarchy of hierarchies()) {
    for (const name of readdirSync(hierarchy).filter((each) => each.startsWith(PREFIX))) {
      const owner = Number(name.slice(PREFIX.length));
      if (owner === process.pid || !existsSync(`/proc/${owner}`)) await whenEmpty(join(hierarchy, name));
    }
  }
}

/** A killed process stays in its group for a moment. */
async function whenEmpty(group: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return removeGroup(group);
    } catch (error) {
      if (attempt === 100) throw error;
      await delay(100);
    }
  }
}

function removeGroup(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) removeGroup(join(path, entry.name));
  }
  rmdirSync(path);
}
