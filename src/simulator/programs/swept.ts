import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that is removed when this process ends, however that happens. */
export interface Swept extends AsyncDisposable {
  readonly path: string;
  remove(): Promise<void>;
  /** Keeps the folder, for people who want to read its content. */
  keep(): void;
}

/** A shell waits on a pipe that only this process holds open. Child processes have a second to die first. */
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

/** A new folder for this process alone; `name` shows its purpose. */
export const temporaryFolder = (name: string): Swept =>
  sweptFolder(mkdtempSync(join(realpathSync(tmpdir()), `mooring-${name}-`)));
