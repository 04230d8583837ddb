import type { Inputs } from "../desired.ts";
import { formed } from "../fields/fields.ts";

const LONGEST = 63;
/** The pattern alone requires at least two characters. */
const form = /^[A-Za-z0-9][-_.A-Za-z0-9]*[A-Za-z0-9]$/;
const words = `must have 2 to ${LONGEST} letters, digits, '-', '_' and '.', with a letter or digit at both ends`;

export const kafkaName = (noun: string) =>
  formed(form, LONGEST, words).optional().describe(`Name of the ${noun} on the platform. Default: metadata.name.`);

/** The message for a default name, `metadata.name`, that is not valid for the platform. */
export function kafkaNameProblem({ name }: { name?: string | undefined }, inputs: Inputs): string | undefined {
  const used = name ?? inputs.name;
  const fits = form.test(used) && used.length <= LONGEST;
  return inputs.observed || inputs.adopted || fits ? undefined : `name: "${used}" ${words}: set spec.name`;
}
