import type { ClusterReader } from "./cluster.ts";
import type { PlatformReader } from "./reader.ts";

/** What questions are answered from. Both sides are opened when the first question needs them. */
export interface Sources {
  platform(): Promise<PlatformReader>;
  cluster(): Promise<ClusterReader>;
  signal: AbortSignal;
  /** Tells how far a long read has come. */
  progress(done: number, what: string): void;
}
