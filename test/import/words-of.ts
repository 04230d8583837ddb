import { execFileSync } from "node:child_process";

/** The words of a command, as a shell reads them. */
export const wordsOf = (command = ""): string[] =>
  execFileSync("sh", ["-c", `printf '%s\\n' ${command}`], { encoding: "utf8" })
    .trimEnd()
    .split("\n");
