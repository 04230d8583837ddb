import type { Inputs } from "../desired.ts";
import { formed } from "../fields/fields.ts";

const LONGEST = 63;
/** At least two characters, by its form alone. */
const form = /^[A-Za-z0-9][-_.A-Za-z0-9]*[A-Za-z0-9]$/;
const words = `must have 2 to ${LONGEST} letters, digits, '-', '_' and '.', with a letter or digit at both ends`;

/** The platform's name of a cluster or topic. */
export const kafkaName = (noun: string) =>
  formed(form, LONGEST, words).optional().describe(`Name of the ${noun} on the platform. Default: metadata.name.`);

/** An object's own name may be no name for it. */
export function kafkaNameProblem({ name }: { name?: string | undefined }, inputs: Inputs): string | undefined {
  const used = name ?? inputs.name;
  const fits = form.test(used) && used.length <= LONGEST;
  return inputs.observed || inputs.adopted || fits ? undefined : `name: "${used}" ${words}: set spec.name`;
}
