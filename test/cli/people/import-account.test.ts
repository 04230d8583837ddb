import { expect, it } from "vitest";
import { people } from "../../../src/cli/people/commands.ts";
import { streams } from "../streams.ts";

it("mooring import does not write objects into a namespace that cannot use the Account", async () => {
  const { written, given } = streams({});
  const command = await people.import?.load();
  expect(await command?.run(["-n", "two", "--account", "prod/main"], given)).toBe(2);
  expect(written.stderr).toContain("objects in namespace two cannot use the Account prod/main: give -n prod");
});
