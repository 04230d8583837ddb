import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Gives back what only loading the program took. It stops everything else, and is called while there is nothing else. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect === "function") collect({ type: "major", flavor: "last-resort" });
}
