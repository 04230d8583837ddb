import { z } from "zod";
import type { Inputs, Publication } from "../desired.ts";
import { differences } from "../fields/compare.ts";
import { wireId } from "../fields/fields.ts";
import { lifetimeBetween, lifetimeSeconds, tokenLifetime } from "../fields/lifetime.ts";
import type { Column, TypedMapping } from "../kind.ts";

/** What spec says about the token of an object. */
export const tokenSpec = {
  lifetime: tokenLifetime().describe(
    "How long a token is valid. It is replaced after two thirds of that time. Default: 7d.",
  ),
};
export const tokenImmutable = { lifetime: "the lifetime of a token is fixed when it is created" };

/** What is shown of the token of an object. */
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

/** A bearer token of the platform as the resource of an object, in a Secret under this name. */
export const tokenMapping = <Spec extends TokenSpec>(
  keyName: string,
  publication: (spec: Spec, inputs: Pick<Inputs, "name">) => Publication | undefined,
) =>
  ({
    names: { type: "token", fields: { ttl: "lifetime" } },
    identity: {
      // A token acts for its user, who may do everything in the contract.
      contractWide: "AccessToken",
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
