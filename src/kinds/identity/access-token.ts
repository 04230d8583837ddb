import { z } from "zod";
import { managed, managedRules, objectName } from "../fields/fields.ts";
import { plain } from "../fields/secrets/encode.ts";
import { secretNameOf } from "../fields/secrets/keys.ts";
import { type Kind, mapping } from "../kind.ts";
import { tokenColumns, tokenImmutable, tokenMapping, tokenSpec, tokenStatus } from "./token.ts";

const spec = z.object({
  ...managed,
  ...tokenSpec,
  secretName: objectName()
    .optional()
    .describe(
      "Name of the Secret for workloads. Default: the object's name with -accesstoken added. Changing it later creates a new token.",
    ),
});

export const accessToken: Kind = {
  kind: "AccessToken",
  plural: "accesstokens",
  shortNames: ["at"],
  limit: 100,
  free: true,
  description: "A bearer token of the platform for workloads. Its Secret is renewed before the token expires.",
  spec,
  status: z.object(tokenStatus),
  rules: managedRules,
  immutable: tokenImmutable,
  comparable: Object.keys(tokenImmutable),
  columns: tokenColumns,
  resource: mapping(
    spec,
    tokenMapping<z.output<typeof spec>>("token", (spec, inputs) => ({
      name: secretNameOf(spec, inputs, "AccessToken"),
      data: (_, token) => ({ token: plain("token", token) }),
    })),
  ),
};
