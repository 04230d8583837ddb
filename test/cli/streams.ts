import type { Surroundings } from "../../src/cli/frame/screen.ts";

/** Streams that keep what a command writes. */
export function streams(env: Readonly<Record<string, string | undefined>> = {}, isTTY = false) {
  const written = { stdout: "", stderr: "" };
  const stream = (name: "stdout" | "stderr") => ({
    isTTY,
    write(text: string) {
      written[name] += text;
    },
  });
  const given: Surroundings = { stdout: stream("stdout"), stderr: stream("stderr"), env };
  return { written, given };
}
