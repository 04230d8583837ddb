import { replaced, type Subject } from "./subject.ts";
import { home, host, hostRef, inPlace } from "./surroundings.ts";

const capture = { action: "Rejected", direction: "Ingress", bucket: "flow-logs" };
const all = { spec: { action: "Any" }, shows: { action: "ALL" } };

/** There can be one per NIC: each has a NIC of its own, which is called like it. */
export const flowLog: Subject = {
  kind: "FlowLog",
  spec: { serverRef: { name: "host" }, nic: "public", ...capture },
  own: (name) => ({ nic: name }),
  wire: {
    collection: "flowlogs",
    path: (ground, name) => `${inPlace("servers")(ground)}/${ground.server}/nics/${ground.nics[name]}/flowlogs`,
    body: (name) => ({ properties: { name, action: "REJECTED", direction: "INGRESS", bucket: "flow-logs" } }),
  },
  place: (name) => ({ serverRef: { name: "host" }, nic: name }),
  fixedChange: all,
  needs: ({ nth }) => [home, host(nth)],
  life: ({ nth }) => {
    const spec = { ...hostRef(nth), nic: "watched", ...capture };
    return { spec, changes: [replaced(spec, all)] };
  },
};
