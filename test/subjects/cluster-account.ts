import { lifeWithPassword } from "./login.ts";
import type { Subject } from "./subject.ts";
import { clusterAccountSpec } from "./surroundings.ts";

export const clusterAccount: Subject = {
  kind: "ClusterAccount",
  spec: {
    region: "de/txl",
    credentialsSecretRef: { name: "shared-token" },
    namespaces: {
      names: ["shop"],
      selector: {
        matchLabels: { tier: "gold" },
        matchExpressions: [{ key: "example.com/team", operator: "In", values: ["a", "b"] }],
      },
    },
    kinds: ["Server", "CentralLogging"],
    default: true,
    adoption: "Any",
    inferenceBudget: { eurPerDay: 10 },
  },
  life: (ground) => lifeWithPassword(clusterAccountSpec(ground), ground),
};
