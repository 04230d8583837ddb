import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that goes with this process at the latest, however that ends. */
export interface Swept extends AsyncDisposable {
  readonly path: string;
  remove(): Promise<void>;
  /** Lets it stay: something in it is worth reading. */
  keep(): void;
}

/** A shell waits on a pipe that only this process holds open. What this process started has a second to die first. */
const sweeper = 'read -r _; sleep 1; rm -rf -- "$1"';

export function sweptFolder(path: string): Swept {
  const child = spawn("/bin/sh", ["-c", sweeper, "sh", path], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.on("error", () => {});
  child.unref();
  const keep = () => void child.kill("SIGKILL");
  async function remove() {
    await rm(path, { recursive: true, force: true, maxRetries: 5 });
    keep();
  }
  return { path, remove, keep, [Symbol.asyncDispose]: remove };
}

/** A new folder of this process alone; `name` tells people what it is for. */
export const temporaryFolder = (name: string): Swept =>
  sweptFolder(mkdtempSync(join(realpathSync(tmpdir()), `mooring-${name}-`)));
