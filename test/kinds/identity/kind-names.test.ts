import { expect, test } from "vitest";
import { KIND_NAMES } from "../../../src/kinds/identity/admission.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { usesAccount } from "../../../src/kinds/kind.ts";

test("a ClusterAccount and a Grant may name every kind that uses an Account", () => {
  expect([...KIND_NAMES].sort()).toEqual(
    kinds
      .filter(usesAccount)
      .map(({ kind }) => kind)
      .sort(),
  );
});
