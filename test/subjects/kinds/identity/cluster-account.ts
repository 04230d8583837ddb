import { lifeWithPassword } from "../../login.ts";
import { bad, good } from "../../manifests.ts";
import type { Subject } from "../../subject.ts";
import { clusterAccountSpec } from "../../surroundings.ts";

const base = {
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
};

export const subject: Subject = {
  ...base,
  life: (ground) => lifeWithPassword(clusterAccountSpec(ground), ground),
  manifests: {
    accepted: [
      ...good(base, "ClusterAccount", [
        ["with everything", {}],
        [
          "as small as can be",
          { region: null, namespaces: null, kinds: null, default: null, adoption: null, inferenceBudget: null },
        ],
        [
          "for all namespaces",
          { namespaces: { names: null, selector: { matchLabels: null, matchExpressions: null } } },
        ],
      ]),
    ],
    refused: [
      ...bad(base, "ClusterAccount", [
        ["no credentials", { credentialsSecretRef: null }, "spec.credentialsSecretRef", "Required value"],
        [
          "a budget below nothing",
          { inferenceBudget: { eurPerDay: -1 } },
          "spec.inferenceBudget.eurPerDay",
          "greater than or equal to 0",
        ],
        [
          "a budget without an amount",
          { inferenceBudget: { eurPerDay: null } },
          "spec.inferenceBudget.eurPerDay",
          "Required value",
        ],
        ["adoption of another word", { adoption: "Some" }, "spec.adoption", '"None", "Any"'],
        ["a kind in lower case", { kinds: ["servers"] }, "spec.kinds[0]", "must be the name of a kind"],
        ["a kind that does not exist", { kinds: ["Datacentre"] }, "spec.kinds[0]", "must be one of Datacenter, "],
        ["a namespace in upper case", { namespaces: { names: ["Shop"] } }, "spec.namespaces.names[0]", "lower-case"],
        ["an unknown way to select", { namespaces: { all: true } }, 'unknown field "spec.namespaces.all"'],
        [
          "a label that is judged in another way",
          { namespaces: { selector: { matchExpressions: [{ key: "a", operator: "Gt", values: ["1"] }] } } },
          "spec.namespaces.selector.matchExpressions[0].operator",
          '"Exists"',
        ],
        [
          "In without values",
          { namespaces: { selector: { matchExpressions: [{ key: "a", operator: "In" }] } } },
          "values are required with In and NotIn",
        ],
        [
          "Exists with values",
          { namespaces: { selector: { matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] } } },
          "values are required with In and NotIn, and not allowed with other operators",
        ],
        [
          "an endpoint without its region",
          { region: null, endpoints: { logging: "https://logging.{region}.example.com" } },
          "set spec.region",
        ],
      ]),
    ],
    changes: {},
  },
};
