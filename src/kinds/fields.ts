import { z } from "zod";
import type { Reference, Rule } from "./kind.ts";

/** A UUID as the platform writes it. */
export const uuid = () => z.string().regex(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/);

/** The name of an object in the same namespace. */
export const objectName = () => z.string().min(1).max(253);

/** A whole number; the schema it gives carries no bounds but the ones asked for. */
export const whole = (min: number, max: number) => z.int32().min(min).max(max);

/** An IPv4 or IPv6 address. */
export const address = () =>
  z
    .string()
    .max(45)
    .meta({ "x-kubernetes-validations": [{ rule: "isIP(self)", message: "must be an IPv4 or IPv6 address" }] });

/** The platform's name of a resource. */
export const platformName = (noun: string) =>
  z.string().min(1).max(255).optional().describe(`Name of the ${noun} on the platform. Default: metadata.name.`);

/** Fields of every kind that has a resource on the platform. */
export const managed = {
  accountRef: z
    .object({ name: objectName().describe("Name of the Account.") })
    .optional()
    .describe(
      "The Account to use, in the same namespace. Default: the only Account of the namespace, else the operator's default Account.",
    ),
  deletionPolicy: z
    .enum(["Delete", "Retain"])
    .default("Delete")
    .describe(
      "What happens to the platform resource when this object is deleted: Delete removes it, Retain leaves it.",
    ),
};

/** Fields of every kind that lives inside a datacenter. */
export const inDatacenter = {
  datacenterRef: z
    .object({ name: objectName().describe("Name of the Datacenter.") })
    .optional()
    .describe(
      "The Datacenter it belongs to, an object in the same namespace. Exactly one of datacenterRef and datacenterId.",
    ),
  datacenterId: uuid()
    .optional()
    .describe("Platform id of the datacenter it belongs to. Exactly one of datacenterRef and datacenterId."),
};

export const datacenterRules: Rule[] = [exactlyOne("datacenterRef", "datacenterId")];

export function datacenterReference(spec: {
  datacenterRef?: { name: string } | undefined;
  datacenterId?: string | undefined;
}): Reference {
  const target = spec.datacenterId !== undefined ? { id: spec.datacenterId } : { name: spec.datacenterRef?.name ?? "" };
  return { role: "datacenter", kind: "Datacenter", field: "datacenterRef", target };
}

/** "Exactly one of" two optional fields. */
export function exactlyOne(a: string, b: string): Rule {
  return {
    rule: `has(self.${a}) != has(self.${b})`,
    message: `exactly one of ${a} and ${b} is required`,
  };
}
