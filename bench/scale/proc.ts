import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The kernel counts time in hundredths of a second, on every machine that Node runs on. */
const TICKS = 100;

/** Seconds of CPU that a process has used so far, its threads included. */
export function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name, in brackets, may have spaces in it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Seconds of CPU that all processes of the machine have used so far, and that its host has given to other machines. */
export function machineCpu(): number {
  const [, ...fields] = (readFileSync("/proc/stat", "utf8").split("\n")[0] ?? "").split(/\s+/);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, stolen = 0] = fields.map(Number);
  return (user + nice + system + irq + softirq + stolen) / TICKS;
}

/** Megabytes of memory that a process occupies. */
export function residentOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return (Number(kilobytes) * 1024) / 1e6;
}

/** The most memory that a process has occupied so far, in megabytes. */
export function peakOf(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return (Number(kilobytes ?? 0) * 1024) / 1e6;
}

/** Processes that work in a folder, by what they are called. */
export function processesIn(folder: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const pid of readdirSync("/proc").map(Number).filter(Number.isInteger)) {
    try {
      if (readlinkSync(`/proc/${pid}/cwd`) !== folder) continue;
      const [command = ""] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      found.set(command.slice(command.lastIndexOf("/") + 1), pid);
    } catch {
      // It has ended meanwhile, or is somebody else's.
    }
  }
  return found;
}
