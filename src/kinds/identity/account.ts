import { z } from "zod";
import { formed, location, objectName, secretKey } from "../fields/fields.ts";
import type { Kind } from "../kind.ts";

const url = (text: string) =>
  formed(
    /^https?:\/\/[^\s/?#{}@]+(\/[^\s?#{}]*)?$/,
    2048,
    "must be an http or https URL without user, query and {region}, for example https://dns.example.com",
  )
    .optional()
    .describe(text);
const regional = (product: string) =>
  formed(
    /^https?:\/\/([^\s/?#{}@]|\{region\})+(\/([^\s?#{}]|\{region\})*)?$/,
    2048,
    "must be an http or https URL without user and query, for example https://logging.{region}.example.com",
  )
    .optional()
    .describe(`URL of the ${product} API; {region} stands for the region's slug.`);

const spec = z.object({
  endpoints: z
    .object({
      api: formed(
        /^https?:\/\/[^\s/?#{}@]+\/?$/,
        2048,
        "must be an http or https URL without user and path, for example https://api.example.com",
      ).describe("URL of the API host, without a path: /cloudapi/v6, /auth/v1 and others hang below it."),
      monitoring: regional("metric pipeline"),
      logging: regional("log pipeline"),
      streaming: regional("event streaming"),
      inference: url("URL of the inference API, without /v1."),
      objectStorage: regional("object storage"),
      dns: url("URL of the DNS API."),
      certificates: url("URL of the certificate manager API."),
    })
    .describe("Where the platform is. No address is built in."),
  region: location()
    .optional()
    .describe("Region of the regional products, a location such as de/txl. Fills {region} in endpoints as de-txl."),
  contractNumber: z
    .int()
    .min(1)
    .max(9_999_999_999)
    .optional()
    .describe("The contract to work in, for users with several. Default: the contract of the token."),
  credentialsSecretRef: z
    .object({
      name: objectName().describe("Name of the Secret, in the same namespace."),
      key: secretKey().default("token").describe("Key that holds the bearer token."),
    })
    .describe("The Secret with the platform's bearer token. A change of it is noticed at once."),
});

const status = z.object({
  contractNumber: z.int().optional().describe("The contract this Account works in."),
  contractOwner: z.string().optional().describe("Who owns the contract."),
  tokenExpiresAt: z.iso.datetime().optional().describe("When the token ends, as the token itself says."),
  limits: z.record(z.string(), z.int()).optional().describe("What the contract allows, by the platform's names."),
  used: z.record(z.string(), z.int()).optional().describe("What of it is in use."),
});

export const account: Kind = {
  kind: "Account",
  plural: "accounts",
  shortNames: ["acct"],
  description: "Endpoints and credentials of one contract of the platform.",
  spec,
  status,
  rules: [
    ...(["monitoring", "logging", "streaming", "objectStorage"] as const).map((name) => ({
      rule: `!has(self.endpoints.${name}) || !self.endpoints.${name}.contains('{region}') || has(self.region)`,
      message: `endpoints.${name} contains {region}: set spec.region, for example de/txl`,
    })),
  ],
  immutable: {},
  columns: [
    { name: "Contract", type: "integer", path: ".status.contractNumber", description: "Contract number" },
    { name: "Token-Expires", type: "string", path: ".status.tokenExpiresAt", description: "When the token ends" },
    { name: "Api", type: "string", path: ".spec.endpoints.api", description: "API host", wide: true },
  ],
};

export type AccountSpec = z.output<typeof spec>;
export const readAccountSpec = (raw: unknown): AccountSpec => spec.parse(raw);
