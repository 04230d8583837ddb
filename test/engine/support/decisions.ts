import { expect, test } from "vitest";
import type { Decision } from "../../../src/engine/decide/decision.ts";
import { decideOn, type Facts, intentAt, NOW, UNSETTLED } from "./views.ts";

type Case = [promise: string, facts: Partial<Facts>, expected: Partial<Decision>];

/** One test per case: the facts, with all that is not named harmless, lead to the decision. */
export function holds(cases: Case[]) {
  test.each(cases)("%s", (_, facts, expected) => {
    expect(decideOn(facts)).toMatchObject(expected);
  });
}

export const accountDown = { reason: "AccountNotReady", message: "Account a/b: no token" } as const;
export const noParent = { reason: "ReferenceNotReady", message: "waiting for Datacenter dc" } as const;
export const badSpec = { reason: "InvalidSpec", message: "spec.ram: too small" } as const;

/** Its resource may not be visible yet. */
export const openIntent = intentAt(NOW - 5000);
/** All that it made can be seen by now. */
export const settledIntent = intentAt(NOW - UNSETTLED - 10_000);
