import type { Subject } from "./subject.ts";
import { account } from "./surroundings.ts";

const spec = { namespaces: { names: ["shop"], selector: { matchLabels: { tier: "gold" } } }, kinds: ["Datacenter"] };

export const grant: Subject = {
  kind: "Grant",
  spec: { ...spec, names: ["dc"] },
  life: (ground) => ({
    prerequisites: [account(ground)],
    spec,
    changes: [{ title: "update", spec: { ...spec, kinds: ["Datacenter", "Lan"] } }],
  }),
};
