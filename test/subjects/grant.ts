import type { Subject } from "./subject.ts";

const spec = { namespaces: { names: ["shop"], selector: { matchLabels: { tier: "gold" } } }, kinds: ["Datacenter"] };

export const grant: Subject = {
  kind: "Grant",
  spec: { ...spec, names: ["dc"] },
  life: () => ({ spec, changes: [{ title: "update", spec: { ...spec, kinds: ["Datacenter", "Lan"] } }] }),
};
