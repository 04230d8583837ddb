import { z } from "zod";
import { differences } from "../fields/compare.ts";
import { plain } from "../fields/encode.ts";
import { managed, managedRules, objectName, wireId } from "../fields/fields.ts";
import { secretNameOf } from "../fields/keys.ts";
import { lifetimeBetween, lifetimeSeconds, tokenLifetime } from "../fields/lifetime.ts";
import { type Kind, mapping } from "../kind.ts";

const spec = z.object({
  ...managed,
  lifetime: tokenLifetime().describe(
    "How long a token is valid. It is replaced after two thirds of that time. Default: 7d.",
  ),
  secretName: objectName()
    .optional()
    .describe(
      "Name of the Secret for workloads. Default: the object's name with -accesstoken added. Changing it later creates a new token.",
    ),
});

const status = z.object({
  lifetime: z.string().optional().describe("How long the token is valid from its creation on."),
  tokenExpiresAt: z.iso.datetime().optional().describe("When the token expires."),
});

const wire = z.looseObject({
  id: wireId(),
  metadata: z.looseObject({ createdDate: z.iso.datetime({ offset: true }) }),
  properties: z.looseObject({ expirationDate: z.iso.datetime({ offset: true }) }),
});
const withValue = z.looseObject({ token: z.string().min(1) });
const body = z.strictObject({ ttl: z.int() });

const lifetimeOf = ({ metadata, properties }: z.output<typeof wire>) =>
  lifetimeBetween(metadata.createdDate, properties.expirationDate);
const utc = (date: string): string => new Date(date).toISOString();

export const accessToken: Kind = {
  kind: "AccessToken",
  plural: "accesstokens",
  shortNames: ["at"],
  description: "A bearer token of the platform for workloads. Its Secret is renewed before the token expires.",
  spec,
  status,
  rules: managedRules,
  immutable: { lifetime: "the lifetime of a token is fixed when it is created" },
  columns: [
    { name: "Secret", type: "string", path: ".status.secretName", description: "Secret for workloads" },
    { name: "Lifetime", type: "string", path: ".status.lifetime", description: "Lifetime of the token", wide: true },
    { name: "Expires", type: "string", path: ".status.tokenExpiresAt", description: "When the token expires" },
  ],
  resource: mapping(spec, {
    names: { type: "token", fields: { ttl: "lifetime" } },
    identity: {
      // A token acts for its user, who may do everything in the contract.
      contractWide: true,
      // It has no name: what tells those of one user apart is when they were made and for how long.
      echo: (resource) => body.safeParse(resource).data ?? { ttl: lifetimeSeconds(lifetimeOf(wire.parse(resource))) },
    },
    place: { product: "auth", collection: () => "/tokens", depth: 0, references: () => [] },
    creation: { body: ({ lifetime }) => ({ ttl: lifetimeSeconds(lifetime) }) },
    comparison: {
      compare: ({ lifetime }, item) => ({
        drift: differences({ lifetime: [lifetime, lifetimeOf(wire.parse(item))] }),
      }),
      facts(item) {
        const token = wire.parse(item);
        return { lifetime: lifetimeOf(token), tokenExpiresAt: utc(token.properties.expirationDate) };
      },
    },
    destruction: { holdsData: false },
    secret: {
      key: {
        created: (answer) => withValue.safeParse(answer).data?.token,
        life(answer) {
          const { metadata, properties } = wire.parse(answer);
          return { issuedAt: utc(metadata.createdDate), expiresAt: utc(properties.expirationDate) };
        },
      },
      publication: (spec, inputs) => ({
        name: secretNameOf(spec, inputs, "AccessToken"),
        data: (_, token) => ({ token: plain("token", token) }),
      }),
      rotation: () => ({}),
    },
  }),
};
