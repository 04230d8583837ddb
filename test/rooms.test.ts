import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./processes.ts";

/** What each room may import besides itself: rooms, single files of src/, and npm packages where they are limited. */
const allowed: Record<string, { rooms: string[]; packages?: string[] }> = {
  kinds: { rooms: [], packages: ["zod"] },
  kube: { rooms: ["clock.ts"] },
  platform: { rooms: ["clock.ts"] },
  engine: { rooms: ["kinds", "kube", "platform", "clock.ts"] },
  operator: { rooms: ["engine", "kinds", "kube", "platform", "clock.ts"] },
  simulator: { rooms: [] },
  cli: { rooms: ["engine", "kinds", "kube", "platform", "operator", "clock.ts"] },
  "clock.ts": { rooms: [] },
  "main.ts": { rooms: ["cli", "simulator/command.ts", "operator/command.ts"] },
};

const importPattern = /(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g;

/** What `file` (a path below src/) imports and must not. */
function violations(file: string, source: string): string[] {
  const room = file.split("/")[0] ?? file;
  const rule = allowed[room];
  if (!rule) return [`${file}: the room "${room}" has no line in the table of this test`];
  return [...source.matchAll(importPattern)]
    .map(([, target = ""]) => target)
    .filter((target) => {
      if (!target.startsWith(".")) return rule.packages !== undefined && !rule.packages.includes(target);
      const path = join(dirname(file), target);
      return path.split("/")[0] !== room && !rule.rooms.some((way) => path === way || path.startsWith(`${way}/`));
    })
    .map((target) => `${file} imports ${target}`);
}

describe("imports between rooms", () => {
  it("point one way", () => {
    const files = globSync(join(root, "src/**/*.ts"));
    expect(files.length).toBeGreaterThan(10);
    const found = files.flatMap((file) => violations(relative(join(root, "src"), file), readFileSync(file, "utf8")));
    expect(found).toEqual([]);
  });

  it.each([
    ["kinds/server.ts", 'import { x } from "../engine/decide.ts";'],
    ["kinds/server.ts", 'import { readFileSync } from "node:fs";'],
    ["kube/watch.ts", 'import type { Kind } from "../kinds/kind.ts";'],
    ["platform/transport.ts", 'export { y } from "../kube/transport.ts";'],
    ["engine/act.ts", 'import "../operator/command.ts";'],
    ["operator/command.ts", 'const s = await import("../simulator/command.ts");'],
    ["simulator/core/servers.ts", 'import {\n  a,\n} from "../../clock.ts";'],
    ["cli/demo.ts", 'import { simulatorCommand } from "../simulator/command.ts";'],
    ["main.ts", 'import("./simulator/world.ts")'],
    ["somewhere/new.ts", ""],
  ])("in %s, %j would be found", (file, source) => {
    expect(violations(file, source)).toHaveLength(1);
  });

  it.each([
    ["kinds/server.ts", 'import { z } from "zod";\nimport { name } from "./fields.ts";'],
    ["engine/act.ts", 'import { sleep } from "../clock.ts";\nimport type { Kind } from "../kinds/kind.ts";'],
    ["simulator/core/kinds/server.ts", 'import { world } from "../../world.ts";\nimport http from "node:http";'],
    ["main.ts", 'import("./simulator/command.ts")'],
  ])("in %s, %j is fine", (file, source) => {
    expect(violations(file, source)).toEqual([]);
  });
});
