import type { Entry } from "../../platform/activity/entry.ts";

export interface ObjectName {
  kind: string;
  namespace: string;
  name: string;
}

/** Finds the objects of the cluster that an entry is about, by the ids in their status. */
export interface Objects extends AsyncDisposable {
  of(entry: Entry): ObjectName[];
  /** Reads the objects again, unless the last read was a moment ago. */
  refresh(signal: AbortSignal): Promise<void>;
}

export const noObjects: Objects = {
  of: () => [],
  refresh: async () => {},
  [Symbol.asyncDispose]: async () => {},
};
