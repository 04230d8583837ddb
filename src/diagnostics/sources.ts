import { z } from "zod";
import type { Kind } from "../kinds/kind.ts";
import type { ClusterReader } from "./cluster.ts";
import type { PlatformReader } from "./reader.ts";

/** The sources of answers. Both sides are opened on first use. */
export interface Sources {
  platform(): Promise<PlatformReader>;
  cluster(): Promise<ClusterReader>;
  /** The time of this machine's clock; the platform's may differ. */
  now(): number;
  signal: AbortSignal;
  /** Reports the progress of a long read. */
  progress(done: number, what: string): void;
  /** Called with what the caller may not read, so that the answer can name it. */
  missing?(what: string): void;
  /** The CRD schemas of kinds; loaded on demand. */
  schemas?(): Promise<(kind: Kind) => object>;
}

/** The message of an error. For an invalid answer it names only the first wrong field, because there may be thousands. */
export function inOneLine(error: unknown): string {
  if (!(error instanceof z.ZodError)) return error instanceof Error ? error.message : String(error);
  const [first] = error.issues;
  const more = error.issues.length - 1;
  const field = first?.path.join(".") || "the whole";
  return `unexpected answer: ${field}: ${first?.message ?? "invalid"}${more > 0 ? ` (and ${more} more)` : ""}`;
}

/** Reads one side. If that fails, the answer still has the other side and says what is missing. */
export async function attempt(
  { signal }: Sources,
  side: string,
  missing: string[],
  read: () => Promise<void>,
): Promise<void> {
  try {
    await read();
  } catch (error) {
    signal.throwIfAborted();
    missing.push(`${side}: ${inOneLine(error)}`);
  }
}
