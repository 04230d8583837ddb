/** Something that is known of an object, and goes with it. A copy of the object has none. */
export interface Slot<O extends object, V> {
  get(object: O): V | undefined;
  set(object: O, value: V): void;
}

/**
 * Kept in the object itself, where neither JSON nor a copy nor a comparison sees it. A WeakMap says the same, but with ten
 * thousands of short-lived objects it takes three times the CPU, and stands still for longer and longer as it grows.
 */
export function createSlot<O extends object, V>(): Slot<O, V> {
  const name = Symbol("slot");
  return {
    get: (object: object) => Reflect.get(object, name),
    set: (object, value) => void Object.defineProperty(object, name, { value, writable: true }),
  };
}

/**
 * A version of an object never changes: what is read out of it is read once, and known for as long as the object is in use.
 * What throws is read again.
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
