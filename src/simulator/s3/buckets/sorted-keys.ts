/** Keys in the order of their UTF-8 bytes, which is S3's. */
export interface SortedKeys {
  readonly all: readonly string[];
  add(key: string): void;
  remove(key: string): void;
}

export function createSortedKeys(): SortedKeys {
  const all: string[] = [];
  return {
    all,
    add(key) {
      const index = firstIndex(all, (each) => byBytes(each, key) >= 0);
      if (all[index] !== key) all.splice(index, 0, key);
    },
    remove(key) {
      const index = firstIndex(all, (each) => byBytes(each, key) >= 0);
      if (all[index] === key) all.splice(index, 1);
    },
  };
}

/** The first index from which on `holds` is true; the length when it never is. */
export function firstIndex(keys: readonly string[], holds: (key: string) => boolean): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(keys[middle] ?? "")) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Compares two strings as their UTF-8 bytes compare. */
export function byBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Surrogates encode characters above U+FFFF, but their code units are below U+E000. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
