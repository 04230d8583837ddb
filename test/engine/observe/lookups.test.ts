import { describe, expect, test } from "vitest";
import { lookUp } from "../../../src/engine/execute/lookups.ts";
import type { Lookup } from "../../../src/kinds/desired.ts";
import { handleOf, scriptedConnection } from "../support/fixtures.ts";
import { stage } from "../support/stage.ts";

const lookup = (path = "/images"): Lookup => ({
  field: "image",
  path,
  pick: (body) => ({ value: String(Reflect.get(Object(body), "version")) }),
});

/** An Account with its own catalogue. */
function accountWith(version: string) {
  const connection = scriptedConnection(() => ({ version }));
  return { connection, handle: handleOf("shop/main", { connection }) };
}

describe("a catalogue", () => {
  test("is read once for all who ask within a minute, and then forgotten", async () => {
    const { deps, clock } = stage([]);
    const { connection, handle } = accountWith("1");
    for (let n = 0; n < 3; n++) await lookUp(deps, handle, [lookup()]);
    expect(connection.calls).toHaveLength(1);
    await clock.advance(60_000);
    expect(deps.catalogues.size).toBe(0);
    await lookUp(deps, handle, [lookup()]);
    expect(connection.calls).toHaveLength(2);
  });

  test("of an Account that was deleted is not used for the one that takes its name", async () => {
    const { deps } = stage([]);
    await lookUp(deps, accountWith("old").handle, [lookup()]);
    const found = await lookUp(deps, accountWith("new").handle, [lookup()]);
    expect(found).toEqual({ value: { image: "new" } });
  });

  test("is one of a few that are kept at the same time", async () => {
    const { deps } = stage([]);
    const { connection, handle } = accountWith("1");
    for (let n = 0; n < 100; n++) await lookUp(deps, handle, [lookup(`/images/${n}`)]);
    expect(deps.catalogues.size).toBe(16);
    await lookUp(deps, handle, [lookup("/images/99")]);
    expect(connection.calls).toHaveLength(100);
  });
});
