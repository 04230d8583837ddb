import type { Product } from "./desired.ts";

/** A resource inside of another one, or one that needs it: `volume data`. */
export interface Content {
  id: string;
  title: string;
  /** Nothing is lost with it, but resources of other products may need it. */
  isEmpty?: boolean;
}

/** Each resource once; those with the same name with their ids. */
export function titlesOf(contents: readonly Content[]): string[] {
  const all = [...new Map(contents.map((each) => [each.id, each])).values()];
  const isUnique = ({ title }: Content) => all.filter((each) => each.title === title).length === 1;
  return all.map((each) => (isUnique(each) ? each.title : `${each.title} (${each.id})`));
}

/** A list of another product, whose resources may need one of this product. */
export interface Elsewhere {
  product: Product;
  path: string;
  needing(answer: unknown, needed: { id: string; parents: Readonly<Record<string, string>> }): Content[];
}

/** The way to find all that is inside a resource and is deleted with it. */
export interface ContentsSource {
  /** Paths below the resource that are read before its deletion, each with the content in its answer. */
  reads: Readonly<Record<string, (answer: unknown) => Content[]>>;
  /** Lists of other products, each with the resources in its answer that need this one. */
  elsewhere?: readonly Elsewhere[];
  /** Some of it belongs to others inside, and is deleted with those: the boot volume of a server. */
  nested?: true;
}

/** All that is inside, by the answers of `read`. */
export const contentsBy = async (
  { reads }: Pick<ContentsSource, "reads">,
  read: (path: string) => Promise<unknown>,
): Promise<Content[]> =>
  (await Promise.all(Object.entries(reads).map(async ([path, list]) => list(await read(path))))).flat();
