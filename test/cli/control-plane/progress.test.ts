import { describe, expect, it } from "vitest";
import { progressTo } from "../../../src/cli/control-plane/progress.ts";

function written(isTTY: boolean, steps: [step: string, seconds: number][]): string {
  let text = "";
  const progress = progressTo({ isTTY, write: (chunk) => (text += chunk) });
  for (const [step, seconds] of steps) progress.update(step, seconds);
  progress.end();
  return text;
}

describe("progress", () => {
  it("is one changing line per step on a terminal", () => {
    const clear = "\r\x1b[K";
    const steps: [string, number][] = [
      ["building etcd", 0],
      ["building etcd", 1],
      ["building kubectl", 0],
    ];
    const expected = `${clear}building etcd …${clear}building etcd … 1s\n${clear}building kubectl …\n`;
    expect(written(true, steps)).toBe(expected);
  });

  it("is a plain line now and then elsewhere", () => {
    const minute = Array.from({ length: 66 }, (_, second): [string, number] => ["building etcd", second]);
    expect(written(false, [...minute, ["building kubectl", 0]]).split("\n")).toEqual([
      "building etcd …",
      "building etcd … 15s",
      "building etcd … 30s",
      "building etcd … 45s",
      "building etcd … 1m00s",
      "building kubectl …",
      "",
    ]);
  });
});
