import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";

export interface Outcome {
  code: number;
  printed: string;
}

/** One bash for a whole page, so that commands share variables. */
export function openShell(cwd: string, env: NodeJS.ProcessEnv) {
  const child: ChildProcess = spawn("bash", ["--norc", "-s"], { cwd, env, detached: true, stdio: "pipe" });
  let printed = "";
  let check = () => {};
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      check();
    });
  }
  child.once("close", () => check());
  return {
    async run(command: string): Promise<Outcome> {
      const end = `end-${randomBytes(8).toString("hex")}`;
      printed = "";
      child.stdin?.write(`{\n${command}\n} </dev/null 2>&1\nprintf '\\n%s %s\\n' ${end} $?\n`);
      const ended = new RegExp(`\\n${end} (\\d+)\\n`);
      return new Promise((resolve, reject) => {
        check = () => {
          const match = ended.exec(printed);
          if (match) resolve({ code: Number(match[1]), printed: printed.slice(0, match.index) });
          else if (child.exitCode !== null) reject(new Error(`the shell ended: ${printed}`));
        };
        check();
      });
    },
    [Symbol.dispose]() {
      child.stdin?.end();
      // Kills it with all its children.
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    },
  };
}
