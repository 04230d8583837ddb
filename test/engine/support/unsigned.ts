import { EXTERNAL_ID, INTENT } from "../../../src/engine/state/names.ts";
import type { Signatures } from "../../../src/engine/state/signatures.ts";
import { trust } from "../../../src/engine/status/trust.ts";

const by: string[] = [];

/** Believes everything and signs nothing, so that tests can write down what an object says. */
export const unsealed: Signatures = {
  judge: (_, object) =>
    trust.set(object, {
      claim: "ours",
      request: "ours",
      facts: "ours",
      annotations: { [INTENT]: "ours", [EXTERNAL_ID]: "ours" },
      current: { status: false, marks: true },
      named: undefined,
      by,
    }),
  believes: () => false,
  signed: (_kind, _object, status) => status,
  mark: (_kind, _object, _annotation, words) => JSON.stringify(words),
  read(_, { metadata }, annotation) {
    try {
      return { words: JSON.parse(metadata.annotations?.[annotation] ?? ""), verdict: "ours", current: true };
    } catch {
      return { words: {}, verdict: "absent", current: false };
    }
  },
};
