import { z } from "zod";
import { formed, location, objectName, secretKey } from "../fields/fields.ts";
import { tokenLifetime } from "../fields/secrets/lifetime.ts";
import type { Column, Kind, Rule } from "../kind.ts";

const url = (text: string) =>
  formed(
    /^https?:\/\/[^\s\p{Cc}\p{Z}/?#{}@]+(\/[^\s\p{Cc}\p{Z}?#{}]*)?$/u,
    2048,
    "must be an http or https URL without user, query and {region}, for example https://dns.example.com",
  )
    .optional()
    .describe(text);
const regional = (product: string) =>
  formed(
    /^https?:\/\/([^\s\p{Cc}\p{Z}/?#{}@]|\{region\})+(\/([^\s\p{Cc}\p{Z}?#{}]|\{region\})*)?$/u,
    2048,
    "must be an http or https URL without user and query, for example https://logging.{region}.example.com",
  )
    .optional()
    .describe(`URL of the ${product} API; {region} is replaced by the region, for example de-txl.`);

const endpoints = z.object({
  api: formed(
    /^https?:\/\/[^\s\p{Cc}\p{Z}/?#{}@]+\/?$/u,
    2048,
    "must be an http or https URL without user and path, for example https://api.example.com",
  )
    .optional()
    .describe("URL of the API host, without a path."),
  monitoring: regional("metric pipeline"),
  logging: regional("log pipeline"),
  streaming: regional("event streaming"),
  inference: url("URL of the inference API, without /v1."),
  objectStorage: regional("object storage"),
  objectStorageManagement: url("URL of the object storage management API."),
  dns: url("URL of the DNS API."),
  certificates: url("URL of the certificate manager API."),
});
export const endpointNames = endpoints.keyof().options;
export const endpointSchema = endpoints.shape;

/** The fields of an Account and a ClusterAccount alike: credentials and addresses. */
export const accountSpec = z.object({
  endpoints: endpoints
    .optional()
    .describe(
      "Endpoints of the platform that differ from the operator's (--endpoint). The operator must allow them (--allow-endpoint).",
    ),
  region: location()
    .optional()
    .describe("Region of the regional products, for example de/txl. Replaces {region} in endpoints."),
  contractNumber: z
    .int()
    .min(1)
    .max(9_999_999_999)
    .optional()
    .describe("Contract number, for users with several contracts. Default: the contract of the token."),
  callsPerSecond: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .describe(
      "Maximum calls per second to each host of the platform, if a limit is agreed on. Default: the operator starts with 50 and adapts to the platform.",
    ),
  credentialsSecretRef: z
    .object({
      name: objectName().describe(
        "Name of the Secret, in the same namespace; for a ClusterAccount in the operator's namespace.",
      ),
      key: secretKey().default("token").describe("Key that holds the bearer token."),
    })
    .describe(
      "Secret with the platform's bearer token, or with the keys username and password, from which the operator creates tokens. Changes take effect immediately.",
    ),
  tokenLifetime: tokenLifetime().describe(
    "Lifetime of the tokens that the operator creates with username and password. Default: 7d.",
  ),
});

export const adviceShown = z
  .array(z.string().describe("One piece of advice."))
  .meta({ "x-kubernetes-list-type": "atomic" })
  .optional()
  .describe("Settings that work but need attention, or have no effect, with the reason.");

export const accountStatus = z.object({
  contractNumber: z.int().optional().describe("Contract number."),
  contractOwner: z.string().optional().describe("Owner of the contract."),
  platformUserId: z.string().optional().describe("Id of the platform's user to whom the token belongs."),
  tokenExpiresAt: z.iso.datetime().optional().describe("When the token expires."),
  expiresIn: z.string().optional().describe("Days until the token expires, for kubectl get: 30d."),
  tokenId: z.string().optional().describe("Id of the token that the operator created with username and password."),
  clusterName: z
    .string()
    .optional()
    .describe("Name of this cluster: the label mooring-cluster on what it creates on the platform."),
  advice: adviceShown,
  limits: z.record(z.string(), z.int()).optional().describe("Limits of the contract, by the platform's names."),
  used: z.record(z.string(), z.int()).optional().describe("Usage of these limits."),
});

export const accountRules: Rule[] = (["monitoring", "logging", "streaming", "objectStorage"] as const).map((name) => ({
  rule: `!has(self.endpoints) || !has(self.endpoints.${name}) || !self.endpoints.${name}.contains('{region}') || has(self.region)`,
  message: `endpoints.${name} contains {region}: set spec.region, for example de/txl`,
}));

export const accountAnnotations = ["mooring.dev/accept-user"];

export const accountColumns: Column[] = [
  { name: "Contract", type: "integer", path: ".status.contractNumber", description: "Contract number" },
  { name: "Token-Expires", type: "string", path: ".status.expiresIn", description: "Days until the token expires" },
  { name: "Api", type: "string", path: ".spec.endpoints.api", description: "API host", wide: true },
];

export const account: Kind = {
  kind: "Account",
  plural: "accounts",
  governs: true,
  shortNames: ["acct"],
  limit: 20,
  free: true,
  description: "Credentials of one contract of the platform, for objects of the same namespace.",
  spec: accountSpec,
  status: accountStatus,
  rules: accountRules,
  immutable: {},
  annotations: accountAnnotations,
  columns: accountColumns,
};

export type AccountSpec = z.output<typeof accountSpec>;
/** Also reads a ClusterAccount, whose sharing rules `readSharing` reads. */
export const readAccountSpec = (raw: unknown): AccountSpec => accountSpec.parse(raw);
