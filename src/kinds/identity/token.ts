import { z } from "zod";
import type { Inputs, Publication } from "../desired.ts";
import { differences } from "../fields/compare.ts";
import { wireId } from "../fields/fields.ts";
import { lifetimeBetween, lifetimeSeconds, tokenLifetime } from "../fields/secrets/lifetime.ts";
import type { Column, TypedMapping } from "../kind.ts";

export const tokenSpec = {
  lifetime: tokenLifetime().describe(
    "How long a token is valid. It is replaced after two thirds of that time. Default: 7d.",
  ),
};
export const tokenImmutable = { lifetime: "the lifetime of a token is fixed when it is created" };

export const tokenStatus = {
  lifetime: z.string().optional().describe("How long the token is valid from its creation on."),
  tokenExpiresAt: z.iso.datetime().optional().describe("When the token expires."),
};

export const tokenColumns: Column[] = [
  { name: "Secret", type: "string", path: ".status.secretName", description: "Secret for workloads" },
  { name: "Lifetime", type: "string", path: ".status.lifetime", description: "Lifetime of the token", wide: true },
  { name: "Expires", type: "string", path: ".status.expiresIn", description: "Days until the token expires" },
];

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

type TokenSpec = z.output<z.ZodObject<typeof tokenSpec>>;

/** A bearer token of the platform as the resource of an object. Its Secret has the token under `keyName`. */
export const tokenMapping = <Spec extends TokenSpec>(
  keyName: string,
  publication: (spec: Spec, inputs: Pick<Inputs, "name">) => Publication | undefined,
) =>
  ({
    names: { type: "token", fields: { ttl: "lifetime" } },
    identity: {
      // A token has all rights of its user in the contract.
      contractWide: "AccessToken",
      // A token has no name. Tokens of one user differ only in creation time and lifetime.
      echo: (resource) => body.safeParse(resource).data ?? { ttl: lifetimeSeconds(lifetimeOf(wire.parse(resource))) },
    },
    place: { product: "auth", collection: () => "/tokens", depth: 0, references: () => [] },
    creation: { body: ({ lifetime }) => ({ ttl: lifetimeSeconds(lifetime) }) },
    comparison: {
      compare: ({ lifetime }, item) => ({
        drift: differences({ lifetime: [lifetime, lifetimeOf(wire.parse(item))] }),
      }),
      facts(item) {
        if (item === undefined) return {};
        const token = wire.parse(item);
        return { lifetime: lifetimeOf(token), tokenExpiresAt: utc(token.properties.expirationDate) };
      },
    },
    destruction: { holdsData: false },
    secret: {
      key: {
        name: keyName,
        created: (answer) => withValue.safeParse(answer).data?.token,
        life(answer) {
          const { metadata, properties } = wire.parse(answer);
          return { issuedAt: utc(metadata.createdDate), expiresAt: utc(properties.expirationDate) };
        },
        lasts: (sent) => body.parse(sent).ttl,
      },
      publication,
      rotation: () => ({}),
    },
  }) satisfies TypedMapping<Spec>;
