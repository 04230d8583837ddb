import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./processes.ts";

/**
 * The imports that each room may have besides its own files: rooms, single files of src/, and npm packages where they
 * are limited.
 */
const allowed: Record<string, { rooms: string[]; packages?: string[] }> = {
  runtime: { rooms: [] },
  kinds: { rooms: ["runtime/field-record.ts", "runtime/memo.ts"], packages: ["zod"] },
  kube: { rooms: ["runtime"] },
  platform: { rooms: ["runtime"] },
  certificates: { rooms: [] },
  engine: { rooms: ["kinds", "kube", "platform", "certificates", "runtime"] },
  controllers: { rooms: ["engine", "kinds", "kube", "platform", "runtime"] },
  server: { rooms: ["kube", "platform/answers/errors.ts", "runtime"] },
  operator: { rooms: ["controllers", "engine", "server", "kinds", "kube", "platform", "runtime"] },
  gateway: {
    rooms: [
      "server",
      "kinds",
      "kube",
      "platform/addresses/platforms.ts",
      "runtime/clock.ts",
      "runtime/unless-thrown.ts",
    ],
  },
  simulator: { rooms: [] },
  diagnostics: { rooms: ["engine", "kinds", "kube", "platform", "runtime/clock.ts", "runtime/nearest-word.ts"] },
  plan: { rooms: ["diagnostics", "engine", "kinds", "kube", "platform", "runtime/clock.ts"] },
  import: { rooms: ["plan", "diagnostics", "engine", "kinds", "kube", "platform"] },
  tools: { rooms: ["plan", "import", "diagnostics", "server", "kube", "platform", "runtime/clock.ts"] },
  cli: {
    rooms: [
      "tools",
      "plan",
      "import",
      "diagnostics",
      "engine",
      "server",
      "kinds",
      "kube",
      "platform",
      "operator",
      "runtime/clock.ts",
      "runtime/memo.ts",
    ],
  },
  "main.ts": { rooms: ["cli", "simulator/command.ts", "operator/command.ts", "gateway/command.ts"] },
};

/** The order of the rooms inside a room: none imports a later one. In the engine, they follow the data. */
const ways: Record<string, string[]> = {
  engine: ["status", "state", "accounts", "observe", "decide", "write", "secrets", "execute"],
  kube: ["resource.ts", "client", "queue", "watch", "lease", "write"],
  platform: ["pace", "addresses", "answers", "calls", "collections", "products", "activity", "export"],
  simulator: [
    ...["time.ts", "chance.ts", "certificates.ts", "programs", "telemetry", "store", "users.ts", "http"],
    ...["identity", "records", "s3", "world.ts", "core", "activity", "autoscaling", "faults", "flow-logs", "managed"],
    ...["storage", "certificate-manager", "dns", "inference", "object-storage-management", "pipelines", "streaming"],
    ...["alerts.ts", "billing", "listener", "demo-data", "dashboard", "ingest"],
  ],
};

/** Files that shared fields may import. */
const shared = ["fields", "kind.ts", "desired.ts"];

const importPattern = /(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g;

/** Forbidden imports of `file`, a path below src/. */
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

/** Forbidden imports of `file`, a path below src/, within its own room. */
function reachingBack(file: string, source: string): string[] {
  const [room = "", inner = ""] = file.split("/");
  const targets = importsOf(file, source).filter((path) => path.startsWith(`${room}/`));
  return targets
    .filter((path) => {
      const to = path.split("/")[1] ?? "";
      if (to === inner || !file.includes("/", room.length + 1)) return false;
      const way = ways[room];
      if (way) return !way.includes(to) || way.indexOf(to) > way.indexOf(inner);
      return room === "kinds" && inner === "fields" && !shared.includes(to);
    })
    .map((path) => `${file} imports ${path}`);
}

const importsOf = (file: string, source: string): string[] =>
  [...source.matchAll(importPattern)]
    .map(([, target = ""]) => target)
    .filter((target) => target.startsWith("."))
    .map((target) => join(dirname(file), target));

/** Circular imports, each circle once. */
function circles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, trail: readonly string[]): void => {
    if (trail.includes(file)) found.push([...trail.slice(trail.indexOf(file)), file].join(" -> "));
    if (done.has(file) || trail.includes(file)) return;
    for (const next of imports.get(file) ?? []) visit(next, [...trail, file]);
    done.add(file);
  };
  for (const file of imports.keys()) visit(file, []);
  return found;
}

const sources = () =>
  globSync(join(root, "src/**/*.ts")).map((file) => ({
    file: relative(join(root, "src"), file),
    source: readFileSync(file, "utf8"),
  }));

/** Folders with more than fifteen files: they need rooms. */
function crowded(files: readonly string[]): string[] {
  const count = new Map<string, number>();
  for (const file of files) count.set(dirname(file), (count.get(dirname(file)) ?? 0) + 1);
  return [...count].filter(([, files]) => files > 15).map(([folder, files]) => `${folder} has ${files} files`);
}

describe("a folder has at most fifteen files", () => {
  it.each(["src", "test"])("in %s", (top) => {
    const files = globSync(`${top}/**/*.ts`, { cwd: root });
    expect(files.length).toBeGreaterThan(100);
    expect(crowded(files)).toEqual([]);
  });

  it("would name a folder with sixteen", () => {
    const files = Array.from({ length: 16 }, (_, index) => `src/kinds/${index}.ts`);
    expect(crowded([...files, "src/main.ts"])).toEqual(["src/kinds has 16 files"]);
    expect(crowded(files.slice(1))).toEqual([]);
  });
});

it.each(["src", "test"])("a file in %s has at most 300 lines", (top) => {
  const lengths = globSync(`${top}/**/*.ts`, { cwd: root }).map((file) => ({
    file,
    lines: readFileSync(join(root, file), "utf8").trimEnd().split("\n").length,
  }));
  expect(lengths.length).toBeGreaterThan(100);
  expect(lengths.filter(({ lines }) => lines > 300)).toEqual([]);
});

describe("imports between rooms", () => {
  it("point one way", () => {
    const files = sources();
    expect(files.length).toBeGreaterThan(10);
    expect(files.flatMap(({ file, source }) => violations(file, source))).toEqual([]);
  });

  it("load the SDK of the tool server nowhere but there", () => {
    const loading = sources().filter(({ source }) => source.includes('"@modelcontextprotocol/'));
    expect(loading.map(({ file }) => file).sort()).toEqual([
      "cli/tools.ts",
      "tools/serve/alone.ts",
      "tools/serve/http.ts",
      "tools/serve/server.ts",
      "tools/serve/sessions.ts",
    ]);
    const asking = sources().filter(({ file, source }) => importsOf(file, source).includes("cli/tools.ts"));
    expect(asking.map(({ file }) => file)).toEqual(["main.ts"]);
  });

  it("follow the order of the rooms inside a room, in the engine the way of an object", () => {
    expect(sources().flatMap(({ file, source }) => reachingBack(file, source))).toEqual([]);
  });

  it("form no circle between files", () => {
    expect(circles(new Map(sources().map(({ file, source }) => [file, importsOf(file, source)])))).toEqual([]);
  });

  it.each([
    ["engine/observe/observe.ts", 'import { x } from "../execute/search.ts";'],
    ["engine/state/intent.ts", 'import type { View } from "../observe/view.ts";'],
    ["engine/execute/execute.ts", 'import { createManager } from "../engine.ts";'],
    ["kinds/fields/compare.ts", 'import { lan } from "../network/lan.ts";'],
    ["platform/calls/call.ts", 'import { openCollection } from "../collections/collection.ts";'],
    ["kube/client/transport.ts", 'import { createStore } from "../watch/store.ts";'],
    ["simulator/store/resource.ts", 'import type { Call } from "../http/exchange.ts";'],
  ])("in %s, %j reaches back", (file, source) => {
    expect(reachingBack(file, source)).toHaveLength(1);
  });

  it("would show a circle", () => {
    const imports = new Map([
      ["a.ts", ["b.ts"]],
      ["b.ts", ["c.ts"]],
      ["c.ts", ["b.ts"]],
    ]);
    expect(circles(imports)).toEqual(["b.ts -> c.ts -> b.ts"]);
  });

  it.each([
    ["kinds/server.ts", 'import { x } from "../engine/decide.ts";'],
    ["kinds/server.ts", 'import { readFileSync } from "node:fs";'],
    ["kube/watch/watch.ts", 'import type { Kind } from "../../kinds/kind.ts";'],
    ["platform/calls/transport.ts", 'export { y } from "../../kube/client/transport.ts";'],
    ["engine/execute.ts", 'import "../operator/command.ts";'],
    ["operator/command.ts", 'const s = await import("../simulator/command.ts");'],
    ["simulator/core/servers.ts", 'import {\n  a,\n} from "../../runtime/clock.ts";'],
    ["cli/demo.ts", 'import { simulatorCommand } from "../simulator/command.ts";'],
    ["main.ts", 'import("./simulator/world.ts")'],
    ["gateway/handler.ts", 'import { execute } from "../engine/execute/execute.ts";'],
    ["operator/start.ts", 'import { runGateway } from "../gateway/start.ts";'],
    ["diagnostics/tree.ts", 'import { table } from "../tools/table/table.ts";'],
    ["tools/perform.ts", 'import { openPlatform } from "../cli/platform-access.ts";'],
    ["somewhere/new.ts", ""],
  ])("in %s, %j would be found", (file, source) => {
    expect(violations(file, source)).toHaveLength(1);
  });

  it.each([
    ["kinds/server.ts", 'import { z } from "zod";\nimport { name } from "./fields.ts";'],
    [
      "engine/execute.ts",
      'import { sleep } from "../runtime/clock.ts";\nimport type { Kind } from "../kinds/kind.ts";',
    ],
    ["simulator/core/compute/server.ts", 'import { world } from "../../world.ts";\nimport http from "node:http";'],
    ["main.ts", 'import("./simulator/command.ts")'],
  ])("in %s, %j is fine", (file, source) => {
    expect(violations(file, source)).toEqual([]);
  });
});
