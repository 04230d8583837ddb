import { bad, good } from "../../manifests.ts";
import type { Subject } from "../../subject.ts";
import { account } from "../../surroundings.ts";

const spec = { namespaces: { names: ["shop"], selector: { matchLabels: { tier: "gold" } } }, kinds: ["Datacenter"] };
const base = { kind: "Grant", spec: { ...spec, names: ["dc"] } };

export const subject: Subject = {
  ...base,
  life: (ground) => ({
    prerequisites: [account(ground)],
    spec,
    changes: [{ title: "update", spec: { ...spec, kinds: ["Datacenter", "Lan"] } }],
  }),
  manifests: {
    accepted: [
      ...good(base, "Grant", [
        ["with everything", {}],
        ["of all objects of a kind, to all namespaces", { namespaces: { names: null, selector: {} }, names: null }],
      ]),
    ],
    refused: [
      ...bad(base, "Grant", [
        ["to nobody", { namespaces: null }, "spec.namespaces", "Required value"],
        ["of nothing", { kinds: [] }, "spec.kinds", "at least 1"],
        ["of unnamed kinds", { kinds: null }, "spec.kinds", "Required value"],
        ["a kind in lower case", { kinds: ["servers"] }, "spec.kinds[0]", "must be the name of a kind"],
        ["a kind that does not exist", { kinds: ["Datacentre"] }, "spec.kinds[0]", "must be one of Datacenter, "],
        ["a name in upper case", { names: ["DC"] }, "spec.names[0]", "must be the name of an object"],
      ]),
    ],
    changes: {},
  },
};
