import { byBytes, firstIndex } from "./sorted-keys.ts";

export interface ListQuery {
  prefix: string;
  delimiter: string;
  /** Only what comes after this key or common prefix. */
  after: string;
  limit: number;
}

export interface Page {
  keys: string[];
  /** The common prefixes of keys up to the delimiter, each once. */
  prefixes: string[];
  /** Key or common prefix to go on after; undefined: this was all. */
  next: string | undefined;
}

/** One page of sorted keys. Costs a search and a walk over what it gives, not over all keys. */
export function listPage(keys: readonly string[], { prefix, delimiter, after, limit }: ListQuery): Page {
  const page: Page = { keys: [], prefixes: [], next: undefined };
  let last: string | undefined;
  let index = firstIndex(keys, (key) => byBytes(key, prefix) >= 0 && byBytes(key, after) > 0);
  for (let key = keys[index]; key?.startsWith(prefix); key = keys[index]) {
    const cut = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
    const common = cut < 0 ? undefined : key.slice(0, cut + delimiter.length);
    if (common === undefined || byBytes(common, after) > 0) {
      if (page.keys.length + page.prefixes.length === limit) return { ...page, next: limit === 0 ? undefined : last };
      if (common === undefined) page.keys.push(key);
      else page.prefixes.push(common);
      last = common ?? key;
    }
    index = common === undefined ? index + 1 : firstIndex(keys, (each) => isBehind(each, common));
  }
  return page;
}

const isBehind = (key: string, prefix: string) => byBytes(key, prefix) > 0 && !key.startsWith(prefix);
