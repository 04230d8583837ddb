/**
 * A version of an object never changes: what is read out of it is read once, and known for as long as the object is in use.
 * What throws is read again.
 */
export function once<O extends object, V>(read: (object: O) => V): (object: O) => V {
  const known = new WeakMap<O, { value: V }>();
  return (object) => {
    const found = known.get(object);
    if (found) return found.value;
    const value = read(object);
    known.set(object, { value });
    return value;
  };
}
