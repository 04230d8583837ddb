import type { Seal } from "../../src/engine/objects/seal.ts";

/** Believes everything and signs nothing, so that tests can write down what an object says. */
export const unsealed: Seal = {
  trusted: (_, object) => object,
  foreignClaim: () => undefined,
  isCurrent: () => false,
  signed: (_kind, _object, status) => status,
  mark: (_kind, _object, _annotation, words) => JSON.stringify(words),
  read(_, { metadata }, annotation) {
    try {
      return { words: JSON.parse(metadata.annotations?.[annotation] ?? ""), current: true };
    } catch {
      return undefined;
    }
  },
};
