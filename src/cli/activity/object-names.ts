import type { Entry } from "../../platform/activity/entry.ts";

/** An object of the cluster. */
export interface ObjectName {
  kind: string;
  namespace: string;
  name: string;
}

/** Which objects of the cluster an entry concerns, by the ids in their status. */
export interface Objects extends AsyncDisposable {
  of(entry: Entry): ObjectName[];
  /** Reads the objects again, unless that was done just now. */
  refresh(signal: AbortSignal): Promise<void>;
}

export const noObjects: Objects = {
  of: () => [],
  refresh: async () => {},
  [Symbol.asyncDispose]: async () => {},
};
