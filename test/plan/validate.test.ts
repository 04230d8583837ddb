import { describe, expect, it } from "vitest";
import { customResourceDefinition } from "../../src/cli/manifests/crd.ts";
import { kinds } from "../../src/kinds/index.ts";
import { schemaIn } from "../../src/plan/schema/objects.ts";
import { problems, withDefaults } from "../../src/plan/schema/validate.ts";
import { subjects } from "../subjects/index.ts";
import { type Base, patched } from "../subjects/manifests.ts";

const schemas = new Map(kinds.map((kind) => [kind.kind, schemaIn(customResourceDefinition(kind))]));

interface Row {
  base: Base;
  name?: unknown;
  patch?: unknown;
}

/** The status of an object with a resource: some fields are immutable from then on. */
const made = (kind: string): object =>
  kind === "ActivityLogExport"
    ? { watermark: { time: "2026-03-01T00:00:00.000Z" } }
    : kinds.find((each) => each.kind === kind)?.resource
      ? { id: "7ce5e062-034e-4dbc-9ed9-4be5174e1523" }
      : {};

/** The messages about an object, or about its change from its base, with a patch of that. */
function refusals({ base, patch, name }: Row, changed: boolean | object = false): string[] {
  const schema = schemas.get(base.kind);
  const stored = (change: unknown) => {
    const object = withDefaults(schema, patched(base, "here", String(name ?? "some-name"), change));
    return changed ? { ...Object(object), status: { ...Object(object).status, ...made(base.kind) } } : object;
  };
  return problems(schema, stored(patch), changed ? stored(changed === true ? {} : changed) : undefined);
}

const manifests = subjects.map((subject) => subject.manifests);
const changes = manifests.flatMap((each) => each.changes ?? []);

/** Messages that only the API server's decoder produces. */
const inItsWords = (words: string): boolean =>
  !/unknown field|unmarshal|must be of type|should be|supported values/i.test(words);

describe("without an API server", () => {
  it.each(manifests.flatMap(({ refused }) => refused))("a bad manifest is refused: $title", ({ says, ...row }) => {
    const said = refusals(row).join("\n");
    expect(said).not.toBe("");
    for (const words of says.filter(inItsWords)) expect(said).toContain(words);
  });

  it.each(changes.flatMap(({ refused = [], fixed = [] }) => [...refused, ...fixed]))(
    "a change that the platform cannot make is refused: $title",
    ({ says, ...row }) => {
      const said = refusals(row, true).join("\n");
      for (const words of says) expect(said).toContain(words);
    },
  );

  it.each(changes.flatMap(({ fixed = [] }) => fixed))(
    "a replacement that has not begun is undone by the previous manifest: $title",
    ({ base, patch }) => {
      const replacing = { ...Object(patch), replacePolicy: "WhenNeeded" };
      expect(refusals({ base, patch: replacing }, true)).toEqual([]);
      expect(refusals({ base, patch: {} }, replacing)).toEqual([]);
    },
  );

  it.each(manifests.flatMap(({ accepted }) => accepted))("a good manifest is accepted: $title", (row) => {
    expect(refusals(row)).toEqual([]);
  });

  it.each(changes.flatMap(({ accepted = [] }) => accepted))(
    "a change that the platform can make is accepted: $title",
    (row) => {
      expect(refusals(row, true)).toEqual([]);
    },
  );
});
