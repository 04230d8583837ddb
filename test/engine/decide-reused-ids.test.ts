import { describe } from "vitest";
import type { View } from "../../src/engine/look/view.ts";
import { holds } from "./decisions.ts";
import { absent, claim, NOW, present, presentDrifted, request } from "./views.ts";

// LANs are numbered, and a number that becomes free is given away again.
describe("where the id of one that is gone is given to the next", () => {
  const owned = (more: Partial<View>): Partial<View> => ({ reusesIds: true, claim, ...more });
  const deleted = (more: Partial<View>): Partial<View> => owned({ deleting: true, ...more });
  const removal = request({ action: "delete", outcome: "DONE" });

  holds([
    [
      "a deletion that is done is over, whatever is seen under the id by now",
      deleted({ observation: present(), request: removal }),
      { step: "release", reason: "Deleted" },
    ],
    [
      "also while the next one is being built",
      deleted({ observation: present({ busy: true }), request: removal }),
      { step: "release", reason: "Deleted" },
    ],
    [
      "a deletion without an answer is looked for, and not sent again",
      deleted({ observation: present(), request: request({ action: "delete", outcome: "unanswered" }) }),
      { step: "recall" },
    ],
    [
      "a deletion under way is asked for by itself",
      deleted({ observation: present(), request: request({ action: "delete", outcome: "unknown" }) }),
      { step: "wait", look: "member" },
    ],
    [
      "a replacement whose deletion is done goes on with the creation",
      owned({
        observation: present(),
        replacement: { fields: ["datacenterRef"], why: [], verdict: "allowed" },
        request: request({ action: "replace", outcome: "DONE" }),
      }),
      { step: "forget" },
    ],
    [
      "a creation that failed has nothing, whatever is seen",
      owned({ observation: presentDrifted(), request: request({ outcome: "FAILED" }) }),
      { step: "fail", gone: true },
    ],
    [
      "an object whose creation failed is let go without touching what is seen",
      deleted({ observation: present(), request: request({ outcome: "FAILED" }) }),
      { step: "release", reason: "Deleted" },
    ],
    [
      "what is seen counts as made only when the creation is done",
      owned({ observation: present(), request: request({ outcome: "unknown" }) }),
      { step: "wait", reason: "Creating", look: "member" },
    ],
    [
      "and then as any other",
      owned({ observation: present(), request: request({ outcome: "DONE", since: NOW - 10_000 }) }),
      { step: "rest" },
    ],
    [
      "what was seen before the creation was done may be the one before: it is not deleted",
      deleted({
        observation: present({ asOf: NOW - 10_000 }),
        request: request({ outcome: "DONE", since: NOW - 5000 }),
      }),
      { step: "wait", reason: "Creating", look: "list" },
    ],
    [
      "what was seen since is",
      deleted({ observation: present(), request: request({ outcome: "DONE", since: NOW - 5000 }) }),
      { step: "delete" },
    ],
    [
      "one that is not there any more is gone by the same rules",
      deleted({ observation: absent() }),
      { step: "release" },
    ],
  ]);
});
