import { expect, test } from "vitest";
import { decide } from "../../../src/engine/decide/decide.ts";
import type { Decision } from "../../../src/engine/decide/decision.ts";
import type { View } from "../../../src/engine/observe/view.ts";
import { intentAt, NOW, UNSETTLED, viewOf } from "./views.ts";

type Case = [promise: string, view: Partial<View>, expected: Partial<Decision>];

/** One test per case: the view, with all that it does not name harmless, leads to the decision. */
export function holds(cases: Case[]) {
  test.each(cases)("%s", (_, view, expected) => {
    expect(decide(viewOf(view))).toMatchObject(expected);
  });
}

export const accountDown = { reason: "AccountNotReady", message: "Account a/b: no token" } as const;
export const noParent = { reason: "ReferenceNotReady", message: "waiting for Datacenter dc" } as const;
export const badSpec = { reason: "InvalidSpec", message: "spec.ram: too small" } as const;

/** What it made may not be visible yet. */
export const openIntent = intentAt(NOW - 5000);
/** All that it made can be seen by now. */
export const settledIntent = intentAt(NOW - UNSETTLED - 10_000);
