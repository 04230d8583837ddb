import { createLazyJson, type LazyJson } from "../../runtime/lazy-json.ts";
import type { Item } from "./reading.ts";
import { sameJson } from "./same-json.ts";

/** Longer items are parsed on each use: a malicious endpoint could fill the memory with a few hundred of them. */
const LONGEST = 16 * 1024;
const unpacked = createLazyJson<unknown>(LONGEST);

/** An item that is kept as text. A class, because the getter of an object literal would be a closure per item. */
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

/** An item in the form that a collection keeps. */
export const keptItem = ({ id, state, raw }: Item): Item => new KeptItem(id, state, JSON.stringify(raw) ?? "null");

/** The memory of objects and map entries per text, in bytes. */
const OVERHEAD = 256;

/** The memory that an item takes. */
export const sizeOf = (item: Item): number => OVERHEAD + (item instanceof KeptItem ? Buffer.byteLength(item.text) : 0);

/** The same item under another id. */
export const renamed = (item: Item, id: string): Item =>
  item instanceof KeptItem ? new KeptItem(id, item.state, item.text) : { ...item, id };

/** An item in its kept form; `before` itself if it is equal, in any order of keys. */
export function keptOrBefore(before: Item | undefined, item: Item): Item {
  const kept = item instanceof KeptItem ? item : keptItem(item);
  if (!(before instanceof KeptItem) || !(kept instanceof KeptItem) || before.state !== kept.state) return kept;
  const isSame = before.text === kept.text || sameJson(JSON.parse(before.text), JSON.parse(kept.text));
  return isSame ? before : kept;
}
