/** A value stored with an object. It lives as long as the object; a copy of the object does not have it. */
export interface Slot<O extends object, V> {
  get(object: O): V | undefined;
  set(object: O, value: V): void;
}

/**
 * The value is a non-enumerable property of the object, so JSON, copies and comparisons do not see it. A WeakMap would do the
 * same, but with ten thousands of short-lived objects it takes three times the CPU, and its pauses grow with its size.
 */
export function createSlot<O extends object, V>(): Slot<O, V> {
  const name = Symbol("slot");
  return {
    get: (object: object) => Reflect.get(object, name),
    set: (object, value) => void Object.defineProperty(object, name, { value, writable: true }),
  };
}

/**
 * Caches what is read out of an object, for as long as the object is in use: one version of an object never changes. An error
 * is not cached.
 */
export function memo<O extends object, V>(read: (object: O) => V): (object: O) => V {
  const slot = createSlot<O, { value: V }>();
  return (object) => {
    const found = slot.get(object);
    if (found) return found.value;
    const value = read(object);
    slot.set(object, { value });
    return value;
  };
}
