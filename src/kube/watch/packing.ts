import { createLazyJson, type LazyJson } from "../../runtime/lazy-json.ts";
import type { Slot } from "../../runtime/memo.ts";
import type { KubeObject } from "../resource.ts";
import { versionOf } from "./version.ts";

/** An object as a store keeps it. Its version can be read without unpacking it. */
export type Kept<T> = { readonly version: string } & (
  | (LazyJson & { readonly slotValue: unknown })
  | { readonly object: T }
);

export interface Packing<T> {
  pack(object: T): Kept<T>;
  /** The object that was packed, or another one with the same content and the same value in the slot. */
  unpack(kept: Kept<T>): T;
}

/** With a slot, objects are kept as JSON text, with the value of that slot beside it; without one, they are kept as they are. */
export function createPacking<T extends KubeObject>(slot: Slot<T, unknown> | undefined): Packing<T> {
  const unpacked = createLazyJson<T>();
  return {
    pack(object) {
      const version = versionOf(object);
      if (!slot) return { version, object };
      const kept = { version, text: JSON.stringify(object), slotValue: slot.get(object) };
      unpacked.remember(kept, object);
      return kept;
    },
    unpack(kept) {
      if ("object" in kept) return kept.object;
      const object = unpacked.get(kept);
      if (slot && slot.get(object) === undefined) slot.set(object, kept.slotValue);
      return object;
    },
  };
}
