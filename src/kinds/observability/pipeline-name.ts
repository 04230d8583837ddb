import type { Inputs } from "../desired.ts";
import { line } from "../fields/fields.ts";

/** The longest name that a pipeline can have. */
export const LONGEST = 20;

/** The platform's name of a pipeline. */
export const pipelineName = line(LONGEST)
  .optional()
  .describe(`Name of the pipeline on the platform, at most ${LONGEST} characters. Default: metadata.name.`);

/** An object's own name may be too long for a pipeline. */
export function nameProblem({ name }: { name?: string | undefined }, inputs: Inputs): string | undefined {
  if (inputs.observed || inputs.adopted || (name ?? inputs.name).length <= LONGEST) return undefined;
  return `name: "${inputs.name}" has ${inputs.name.length} characters; at most ${LONGEST} are allowed: set spec.name`;
}
