import { z } from "zod";
import type { OutputTarget, OutputValues, SecretData } from "../../desired.ts";
import type { OutputSource } from "../../kind.ts";
import { exactlyOne, objectName } from "../fields.ts";
import { addressed } from "./encode.ts";

/** The field of every kind that has an output for workloads. */
export const outputField = {
  output: z
    .object({
      secretName: objectName().optional().describe("Name of the Secret to write."),
      configMapName: objectName().optional().describe("Name of the ConfigMap to write."),
    })
    .meta({ "x-kubernetes-validations": [exactlyOne("secretName", "configMapName")] })
    .optional()
    .describe(
      "Writes ids and addresses of the resource into a Secret or ConfigMap for workloads; deleted when this is removed.",
    ),
};

/** The output of a kind with that field. */
export const output = (
  values: OutputSource["values"],
  related?: OutputSource["related"],
): OutputSource & { target(spec: { output?: OutputTarget | undefined }): OutputTarget | undefined } => ({
  target: ({ output }) => output,
  values,
  ...(related && { related }),
});

/**
 * The name of an environment variable, or a part of one, made from a user's name; empty if no valid character is left.
 */
export const envName = (name: string): string =>
  name
    .slice(0, 100)
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^_|_$/g, "");

/** The values as they are written; lists are joined with commas. Only addresses, ids and numbers are allowed. */
export function outputData(values: OutputValues): SecretData {
  const entries = Object.entries(values).map(([key, value]) => {
    const texts = value == null ? [] : [value].flat().map((each) => addressed(key, String(each)));
    return [key, texts.join(",")] as const;
  });
  return Object.fromEntries(entries.filter(([, text]) => text !== ""));
}
