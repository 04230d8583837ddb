import { lifeWithPassword } from "../../login.ts";
import { type Base, bad, each, good, long } from "../../manifests.ts";
import type { Subject } from "../../subject.ts";
import { accountSpec } from "../../surroundings.ts";

const base: Base = {
  kind: "Account",
  spec: { endpoints: { api: "https://api.example.com" }, credentialsSecretRef: { name: "platform-token" } },
};

export const subject: Subject = {
  kind: "Account",
  spec: accountSpec({ api: "https://api.example.com", nth: 0 }),
  life: (ground) => lifeWithPassword(accountSpec(ground), ground),
  manifests: {
    accepted: [
      ...good(base, "Account", [
        ["as small as can be", { endpoints: null }],
        ...each("tokenLifetime", ["1h", "365d"]),
        ...each("callsPerSecond", [1, 1000]),
        ["one endpoint, the others being the operator's", { endpoints: { api: null, dns: "https://dns.example.com" } }],
        ["an endpoint with a port and a slash", { endpoints: { api: "http://127.0.0.1:8080/" } }],
        [
          "a contract and another key",
          { contractNumber: 9_999_999_999, credentialsSecretRef: { key: "bearer.token" } },
        ],
        [
          "every endpoint, regional ones with {region}",
          {
            region: "de/fra/2",
            endpoints: {
              monitoring: "https://monitoring.{region}.example.com",
              logging: "https://example.com/logging/{region}",
              streaming: "https://kafka.{region}.example.com",
              inference: "https://ai.example.com",
              objectStorage: "https://s3.{region}.example.com",
              dns: "https://dns.example.com",
              certificates: "https://certificates.example.com/v2",
            },
          },
        ],
      ]),
    ],
    refused: [
      ...bad(base, "Account", [
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
        [
          "an endpoint of 2049 characters",
          { endpoints: { api: `https://${long(2041)}` } },
          "spec.endpoints.api",
          "2048",
        ],
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
        ["no calls at all", { callsPerSecond: 0 }, "spec.callsPerSecond", "greater than or equal to 1"],
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
    ],
    changes: {
      accepted: [...good(base, "Account", [["another endpoint", { endpoints: { api: "https://other.example.com" } }]])],
    },
  },
};
