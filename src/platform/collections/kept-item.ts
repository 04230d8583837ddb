import { createLazyJson, type LazyJson } from "../../runtime/lazy-json.ts";
import type { Item } from "./reading.ts";
import { sameJson } from "./same-json.ts";

/** Longer items are parsed each time: an endpoint that means harm could fill the memory with a few hundred of them. */
const LONGEST = 16 * 1024;
const unpacked = createLazyJson<unknown>(LONGEST);

/** An item of which only the text is kept. A class, because the getter of a literal would be a closure for each of them. */
class KeptItem implements Item, LazyJson {
  readonly id: string;
  readonly state: string | undefined;
  readonly text: string;
  constructor(id: string, state: string | undefined, text: string) {
    this.id = id;
    this.state = state;
    this.text = text;
  }
  get raw(): unknown {
    return unpacked.get(this);
  }
}

/** What a collection keeps of an item. */
export const keptItem = ({ id, state, raw }: Item): Item => new KeptItem(id, state, JSON.stringify(raw) ?? "null");

/** The objects and map entries around each text. */
const AROUND = 256;

/** What an item takes in memory. */
export const sizeOf = (item: Item): number => AROUND + (item instanceof KeptItem ? item.text.length : 0);

/** The same item under another id. */
export const renamed = (item: Item, id: string): Item =>
  item instanceof KeptItem ? new KeptItem(id, item.state, item.text) : { ...item, id };

/** An item in the form in which it is kept: `before` itself, when it says the same, in whatever order. */
export function unchanged(before: Item | undefined, item: Item): Item {
  const kept = item instanceof KeptItem ? item : keptItem(item);
  if (!(before instanceof KeptItem) || !(kept instanceof KeptItem) || before.state !== kept.state) return kept;
  const isSame = before.text === kept.text || sameJson(JSON.parse(before.text), JSON.parse(kept.text));
  return isSame ? before : kept;
}
