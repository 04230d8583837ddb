import type { Kind } from "../kinds/kind.ts";
import type { ClusterReader } from "./cluster.ts";
import type { PlatformReader } from "./reader.ts";

/** What questions are answered from. Both sides are opened when the first question needs them. */
export interface Sources {
  platform(): Promise<PlatformReader>;
  cluster(): Promise<ClusterReader>;
  /** By our own clock, where the platform's is not known. */
  now(): number;
  signal: AbortSignal;
  /** Tells how far a long read has come. */
  progress(done: number, what: string): void;
  /** Told of what the caller may not read, so that an answer names it. */
  missing?(what: string): void;
  /** The schemas of objects by their kinds, as the CRDs have them; loaded when they are needed. */
  schemas?(): Promise<(kind: Kind) => object>;
}

/** Looks at one side, which may be out of reach: the other one still has an answer, and what is missing is told. */
export async function attempt(
  { signal }: Sources,
  side: string,
  missing: string[],
  look: () => Promise<void>,
): Promise<void> {
  try {
    await look();
  } catch (error) {
    signal.throwIfAborted();
    missing.push(`${side}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
