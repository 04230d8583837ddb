import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";

/** A folder that goes with this process, however that ends. */
export interface Swept {
  remove(): Promise<void>;
}

/** A shell waits on a pipe that only this process holds open. What this process started has a second to die first. */
const sweeper = 'read -r _; sleep 1; rm -rf -- "$1"';

export function sweptFolder(folder: string): Swept {
  const child = spawn("/bin/sh", ["-c", sweeper, "sh", folder], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.on("error", () => {});
  return {
    async remove() {
      await rm(folder, { recursive: true, force: true });
      child.kill("SIGKILL");
    },
  };
}
