import { z } from "zod";
import { withDefault } from "../../records/fields.ts";

const condition = z
  .object({
    type: z.enum(["HEADER", "PATH", "QUERY", "METHOD", "HOST", "COOKIE", "SOURCE_IP"]),
    condition: z.enum(["EXISTS", "CONTAINS", "EQUALS", "MATCHES", "STARTS_WITH", "ENDS_WITH"]).nullish(),
    negate: withDefault(z.boolean(), false),
    key: z.string().nullish(),
    value: z.string().nullish(),
  })
  .superRefine((given, { addIssue }) => {
    const fault = (field: keyof typeof given, message: string) => addIssue({ code: "custom", path: [field], message });
    const hasKey = given.type === "HEADER" || given.type === "QUERY" || given.type === "COOKIE";
    if (given.condition == null && given.type !== "SOURCE_IP") fault("condition", "is required");
    if (given.key != null && !hasKey) fault("key", "is for conditions on HEADER, QUERY and COOKIE only");
    if (given.value == null && given.condition != null && given.condition !== "EXISTS") {
      fault("value", `is required for ${given.condition}`);
    }
    if (given.value != null && given.condition === "EXISTS") fault("value", "cannot be combined with EXISTS");
  });

const shared = { name: z.string().min(1), conditions: z.array(condition).nullish() };

const onlyFor = (type: string) => z.null(`is for rules of type ${type} only`).optional();
const forwardOnly = { targetGroup: onlyFor("FORWARD") };
const redirectOnly = { location: onlyFor("REDIRECT"), dropQuery: onlyFor("REDIRECT") };
const staticOnly = { responseMessage: onlyFor("STATIC"), contentType: onlyFor("STATIC") };

/** The action of an Application Load Balancer for a call that meets all conditions; each type has its own fields. */
export const httpRule = z.discriminatedUnion("type", [
  z.object({
    ...shared,
    type: z.literal("FORWARD"),
    targetGroup: z.string(),
    statusCode: onlyFor("REDIRECT and STATIC"),
    ...redirectOnly,
    ...staticOnly,
  }),
  z.object({
    ...shared,
    type: z.literal("REDIRECT"),
    location: z.string(),
    dropQuery: withDefault(z.boolean(), false),
    statusCode: withDefault(z.literal([301, 302, 303, 307, 308]), 301),
    ...forwardOnly,
    ...staticOnly,
  }),
  z.object({
    ...shared,
    type: z.literal("STATIC"),
    statusCode: withDefault(z.int().min(200).max(599), 503),
    responseMessage: z.string(),
    contentType: z.string().nullish(),
    ...forwardOnly,
    ...redirectOnly,
  }),
]);
