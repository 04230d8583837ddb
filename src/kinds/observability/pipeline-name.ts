import type { Inputs } from "../desired.ts";
import { line } from "../fields/fields.ts";

/** Maximum length of a pipeline name on the platform. */
export const LONGEST = 20;

export const pipelineName = line(LONGEST)
  .optional()
  .describe(`Name of the pipeline on the platform, at most ${LONGEST} characters. Default: metadata.name.`);

/** The message for a default name, `metadata.name`, that is too long for a pipeline. */
export function nameProblem({ name }: { name?: string | undefined }, inputs: Inputs): string | undefined {
  if (inputs.observed || inputs.adopted || (name ?? inputs.name).length <= LONGEST) return undefined;
  return `name: "${inputs.name}" has ${inputs.name.length} characters; at most ${LONGEST} are allowed: set spec.name`;
}
