import { describe, expect, test } from "vitest";
import { customResourceDefinition } from "../../../src/cli/manifests/crd.ts";
import { listed, nameOf } from "../../../src/kinds/fields/column.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { usesAccount } from "../../../src/kinds/kind.ts";
import { daysLeft } from "../../../src/runtime/text.ts";

interface Node {
  type?: string;
  default?: unknown;
  properties?: Record<string, Node>;
}
interface Column {
  name: string;
  type: string;
  jsonPath: string;
  priority?: number;
}

/** The parts of a CRD that these tests read. */
function crdOf(kind: (typeof kinds)[number]) {
  const definition: { spec: { versions: [Version] } } = JSON.parse(JSON.stringify(customResourceDefinition(kind)));
  const [version] = definition.spec.versions;
  return { columns: version.additionalPrinterColumns, schema: version.schema.openAPIV3Schema };
}
interface Version {
  additionalPrinterColumns: Column[];
  schema: { openAPIV3Schema: Node };
}

const fieldAt = (schema: Node, path: string): Node | undefined =>
  path
    .split(".")
    .filter((step) => step !== "")
    .reduce<Node | undefined>((node, step) => node?.properties?.[step], schema);

describe.each(kinds)("the columns of $kind", (kind) => {
  const { columns, schema } = crdOf(kind);

  test("show no list and no object, which would be JSON", () => {
    const shapes = columns
      .filter(({ jsonPath }) => !jsonPath.includes("[?") && !jsonPath.startsWith(".metadata"))
      .map(({ name, jsonPath }) => [name, fieldAt(schema, jsonPath)?.type]);
    expect(shapes.filter(([, type]) => type === undefined || type === "array" || type === "object")).toEqual([]);
  });

  test("show state, model, machine and server as they are, not as spec wants them", () => {
    const wanted = columns.filter(({ name }) => ["State", "VM", "Type"].includes(name));
    // A Snapshot stays a copy of the server that spec names, even if that one is gone.
    const server = kind.kind === "Snapshot" ? [] : columns.filter(({ name }) => name === "Server");
    for (const { jsonPath } of [...wanted, ...server]) expect(jsonPath).toMatch(/^\.status\./);
  });

  test("say whether it is paused, where it can be", () => {
    const paused = columns.find(({ name }) => name === "Paused");
    expect(paused?.priority).toBeUndefined();
    expect(paused !== undefined).toBe(usesAccount(kind));
  });

  test("show no time before the operator has seen the object", () => {
    expect(JSON.stringify(schema.properties?.status?.default)).not.toContain("lastTransitionTime");
  });
});

describe("a column", () => {
  test("of a list is its first values and how many more there are", () => {
    expect(listed(["10.0.0.1"])).toBe("10.0.0.1");
    expect(listed(["a", "b", "c", "d", "e", "f"])).toBe("a,b,c,d,+2");
    expect([listed([]), listed(undefined), listed(null)]).toEqual([undefined, undefined, undefined]);
  });

  test("of what expires is whole days", () => {
    const day = 86_400_000;
    expect([30.9, 1, 0.5, 0, -0.1].map((days) => daysLeft(days * day, 0))).toEqual([
      "30d",
      "1d",
      "<1d",
      "<1d",
      "expired",
    ]);
  });

  test("of a server is the name of its object, as far as that is known", () => {
    expect(nameOf("s-1", { id: "s-1", name: "web" })).toBe("web");
    expect(nameOf("s-1", { id: "s-2", name: "web" })).toBe("s-1");
    expect(nameOf("s-1", undefined, "web")).toBe("web");
    expect(nameOf(undefined, { id: "s-2", name: "web" })).toBeUndefined();
  });
});
