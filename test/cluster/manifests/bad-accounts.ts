import { account, clusterAccount, datacenter } from "./base.ts";
import { bad, long } from "./table.ts";

export const badAccounts = [
  ...bad(account, "Account", [
    ["no spec", null, "spec", "Required value"],
    [
      "an endpoint without a scheme",
      { endpoints: { api: "api.example.com" } },
      "spec.endpoints.api",
      "https://api.example.com",
    ],
    [
      "an API endpoint with a path",
      { endpoints: { api: "https://api.example.com/cloudapi/v6" } },
      "spec.endpoints.api",
      "without user and path",
    ],
    [
      "an API endpoint per region",
      { endpoints: { api: "https://api.{region}.example.com" } },
      "spec.endpoints.api",
      "must be an http or https URL",
    ],
    [
      "an endpoint with a password",
      { endpoints: { api: "https://me:pass@api.example.com" } },
      "spec.endpoints.api",
      "without user",
    ],
    ["another protocol", { endpoints: { api: "ftp://api.example.com" } }, "spec.endpoints.api", "http or https"],
    ["an empty endpoint", { endpoints: { logging: "" } }, "spec.endpoints.logging", "must be an http or https URL"],
    [
      "an endpoint with a query",
      { endpoints: { dns: "https://dns.example.com/?a=b" } },
      "spec.endpoints.dns",
      "without user, query",
    ],
    [
      "an unknown placeholder",
      { region: "de/txl", endpoints: { logging: "https://logging.{site}.example.com" } },
      "spec.endpoints.logging",
      "https://logging.{region}.example.com",
    ],
    [
      "{region} where no region counts",
      { region: "de/txl", endpoints: { inference: "https://ai.{region}.example.com" } },
      "spec.endpoints.inference",
      "without user, query and {region}",
    ],
    ["an endpoint of 2049 characters", { endpoints: { api: `https://${long(2041)}` } }, "spec.endpoints.api", "2048"],
    [
      "an unknown endpoint",
      { endpoints: { billing: "https://billing.example.com" } },
      'unknown field "spec.endpoints.billing"',
    ],
    [
      "a monitoring endpoint without its region",
      { endpoints: { monitoring: "https://monitoring.{region}.example.com" } },
      "endpoints.monitoring contains {region}",
      "set spec.region, for example de/txl",
    ],
    [
      "a logging endpoint without its region",
      { endpoints: { logging: "https://logging.{region}.example.com" } },
      "endpoints.logging contains {region}",
      "set spec.region",
    ],
    [
      "a streaming endpoint without its region",
      { endpoints: { streaming: "https://kafka.{region}.example.com" } },
      "endpoints.streaming contains {region}",
      "set spec.region",
    ],
    [
      "an object storage endpoint without its region",
      { endpoints: { objectStorage: "https://s3.{region}.example.com" } },
      "endpoints.objectStorage contains {region}",
      "set spec.region",
    ],
    [
      "a region as a slug",
      { region: "de-txl" },
      "spec.region",
      "must be a location <country>/<site>, for example de/txl",
    ],
    ["a contract number as text", { contractNumber: "31884391" }, "spec.contractNumber", "must be of type integer"],
    ["contract number 0", { contractNumber: 0 }, "spec.contractNumber", "greater than or equal to 1"],
    [
      "a contract number of eleven digits",
      { contractNumber: 10_000_000_000 },
      "spec.contractNumber",
      "less than or equal to 9999999999",
    ],
    ["no credentials", { credentialsSecretRef: null }, "spec.credentialsSecretRef", "Required value"],
    [
      "credentials without a name",
      { credentialsSecretRef: { name: null } },
      "spec.credentialsSecretRef.name",
      "Required value",
    ],
    [
      "credentials in another namespace",
      { credentialsSecretRef: { namespace: "other" } },
      'unknown field "spec.credentialsSecretRef.namespace"',
    ],
    [
      "a Secret's name in upper case",
      { credentialsSecretRef: { name: "Token" } },
      "spec.credentialsSecretRef.name",
      "lower-case letters",
    ],
    [
      "an empty key",
      { credentialsSecretRef: { key: "" } },
      "spec.credentialsSecretRef.key",
      "must be a key of a Secret",
    ],
    ["the token itself", { token: "abc" }, 'unknown field "spec.token"'],
    ["what only a ClusterAccount has", { default: true }, 'unknown field "spec.default"'],
  ]),
  ...bad(clusterAccount, "ClusterAccount", [
    ["no credentials", { credentialsSecretRef: null }, "spec.credentialsSecretRef", "Required value"],
    ["adoption of another word", { adoption: "Some" }, "spec.adoption", '"None", "Any"'],
    ["a kind in lower case", { kinds: ["servers"] }, "spec.kinds[0]", "must be the name of a kind"],
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
      "values are needed with In and NotIn",
    ],
    [
      "Exists with values",
      { namespaces: { selector: { matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] } } },
      "values are needed with In and NotIn, and only there",
    ],
    [
      "an endpoint without its region",
      { region: null, endpoints: { logging: "https://logging.{region}.example.com" } },
      "set spec.region",
    ],
  ]),
  ...bad(datacenter, "A reference to an Account", [
    ["of another kind", { accountRef: { kind: "Secret", name: "main" } }, "spec.accountRef.kind", '"ClusterAccount"'],
    ["without a name", { accountRef: { kind: "ClusterAccount" } }, "spec.accountRef.name", "Required value"],
  ]),
];
