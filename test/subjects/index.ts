import { globSync } from "node:fs";
import { join } from "node:path";
import { kinds } from "../../src/kinds/index.ts";
import type { Subject } from "./subject.ts";

const folder = join(import.meta.dirname, "kinds");

/** The fixture of each kind. Every file in a folder of `kinds/` has one; the order is that of src/kinds. */
export const subjects: readonly Subject[] = await Promise.all(
  globSync("*/*.ts", { cwd: folder }).map(async (file) => {
    const { subject }: { subject?: Subject } = await import(join(folder, file));
    if (!subject) throw new Error(`test/subjects/kinds/${file} exports no subject`);
    return subject;
  }),
).then((found) => found.sort((a, b) => placeOf(a) - placeOf(b)));

function placeOf({ kind }: Subject): number {
  return kinds.findIndex((each) => each.kind === kind);
}
