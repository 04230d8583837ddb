import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { openScreen } from "../../src/cli/frame/screen.ts";
import { yamlText } from "../../src/diagnostics/manifest-text.ts";
import { streams } from "../cli/streams.ts";
import { root } from "../processes.ts";

const words = [
  "no",
  "on",
  "yes",
  "off",
  "y",
  "n",
  "No",
  "ON",
  "Y",
  "N",
  "010",
  "1:30",
  "2026-01-01",
  "1_000",
  "0b1",
  "<<",
];
const object = {
  metadata: { name: "no", labels: Object.fromEntries(words.map((word) => [word, word])) },
  spec: { description: "on", words, isPublic: true, count: 10, text: "a\nb\n", long: "word ".repeat(50) },
};

it("writes words that are booleans in YAML 1.1, as kubectl reads it, as strings", () => {
  expect(parse(yamlText(object), { version: "1.1" })).toEqual(object);
  expect(parse(yamlText(object))).toEqual(object);
});

it("does so for commands with -o yaml", () => {
  const { written, given } = streams({}, false);
  openScreen(given, "yaml", () => 0).data(object);
  expect(parse(written.stdout, { version: "1.1" })).toEqual(object);
});

it("is the only place that writes YAML", () => {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const writers = files.filter((name) =>
    /import \{[^}]*(?<!type )\b(Document|stringify)\b[^}]*\} from "yaml"/.test(
      readFileSync(join(root, "src", name), "utf8"),
    ),
  );
  expect(writers).toEqual(["diagnostics/manifest-text.ts"]);
});
