import { expect, test } from "vitest";
import { readConfig } from "../../src/operator/config.ts";

function nameWith(...argv: string[]) {
  const config = readConfig(argv, {});
  if (config === "help") throw new Error("nobody asked for help");
  return config.clusterName;
}

test.each([
  ["is the default for an operator of all namespaces", [], undefined],
  ["is none for an operator of one namespace", ["--watch-namespace", "shop"], ""],
  ["is the given one", ["--cluster-name", "blue-1.eu_west"], "blue-1.eu_west"],
  ["is the given one, also for one namespace", ["--cluster-name", "blue", "--watch-namespace", "shop"], "blue"],
  ["is none if the flag says so", ["--cluster-name", "none"], ""],
])("the name of the cluster on the platform %s", (_, argv, name) => {
  expect(nameWith(...argv)).toBe(name);
});

test.each(["", "two words", "-a", "a-", "a/b", "x".repeat(64)])("%j is no value of a label, and refused", (name) => {
  expect(() => nameWith(`--cluster-name=${name}`)).toThrow(
    `--cluster-name: "${name}" is not a name of letters, digits, "-", "." and "_", with a letter or digit at both ends and at most 63 characters`,
  );
});
