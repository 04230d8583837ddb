import { z } from "zod";
import { fault } from "../fault.ts";

const texts = z.union([z.string(), z.array(z.string())]);
const statementSchema = z.looseObject({
  Sid: z.string().optional(),
  Effect: z.enum(["Allow", "Deny"]),
  Action: texts,
  Resource: texts,
  Principal: z.union([z.literal("*"), z.record(z.string(), texts)]),
  Condition: z.record(z.string(), z.unknown()).optional(),
});
const policySchema = z.looseObject({
  Id: z.string().optional(),
  Version: z.enum(["2012-10-17", "2008-10-17"]).optional(),
  Statement: z.array(statementSchema).min(1),
});

/** Reads a policy as S3 does; it is kept as it was sent. */
export function policyIn(text: string) {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw fault("MalformedPolicy", "The policy is not valid JSON");
  }
  const { data, error } = policySchema.safeParse(value);
  if (data === undefined) throw fault("MalformedPolicy", `The policy is not valid: ${error.issues[0]?.path.join(".")}`);
  return data;
}

/** Whether a policy opens the bucket to everybody. */
export const isPublic = (text: string) =>
  policyIn(text).Statement.some(({ Effect, Principal, Condition }) => {
    const all = Principal === "*" || Object.values(Principal).some((each) => each === "*" || each.includes("*"));
    return Effect === "Allow" && all && Condition === undefined;
  });
