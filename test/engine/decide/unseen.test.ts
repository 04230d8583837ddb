import { describe } from "vitest";
import { holds } from "../support/decisions.ts";
import { absent, claim, type Facts, lacking, NOW } from "../support/views.ts";

describe("a resource that is not seen", () => {
  const owned = (more: Partial<Facts>): Partial<Facts> => ({ claim, ...more });
  const unseen = (more: Parameters<typeof absent>[0] = {}) =>
    owned({ observation: absent({ absence: "unseen", ...more }) });
  const missing = (more: Parameters<typeof absent>[0] = {}) => unseen({ absence: "missing", ...more });
  holds([
    ["is looked for before anybody is told", unseen({ since: NOW - 5000 }), { step: "wait", reason: "Observing" }],
    ["is missing, and nothing is created", unseen(), { step: "stall", reason: "Missing", read: "member" }],
    ["is waited for while somebody deletes it", unseen({ absence: "leaving" }), { step: "wait", read: "member" }],
    ["is created again when the log tells of its deletion", unseen({ absence: "deleted" }), { step: "forget" }],
    ["is not created again when the log does not tell of it", missing(), { step: "stall", reason: "Missing" }],
    ["is created again when no log could tell of it", missing({ logged: false }), { step: "forget" }],
    ["is created again when spec says so", { ...missing(), recreatePolicy: "WhenMissing" }, { step: "forget" }],
    [
      "is not created on one look, whatever spec says",
      { ...unseen(), recreatePolicy: "WhenMissing" },
      { step: "stall" },
    ],
    [
      "is never created again where what it held is lost",
      { ...unseen({ absence: "deleted", deletion: "by a@b at noon" }), recreatePolicy: "Never" },
      { step: "stall", reason: "DeletedExternally" },
    ],
    [
      "is not forgotten while spec lacks what only it had",
      { ...unseen({ absence: "deleted", deletion: "by a@b at noon" }), lacking: lacking() },
      {
        step: "stall",
        reason: "DeletedExternally",
        message: `Server ${claim.id} was deleted by a@b at noon; ${lacking().message}; to create a new one, set the annotation mooring.dev/recreate to "${claim.id}"`,
      },
    ],
    [
      "is created again when it was deleted to be replaced, whoever remembers that",
      {
        ...unseen({ absence: "deleted" }),
        recreatePolicy: "Never",
        replacement: { fields: ["size"], why: ["it stays"], verdict: "allowed" },
      },
      { step: "forget" },
    ],
    [
      "is created again when a person says so",
      { ...unseen(), recreatePolicy: "Never", recreateAsked: true },
      { step: "forget" },
    ],
  ]);
});
