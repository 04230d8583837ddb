import type { Machine } from "./machine.ts";

/** What the node is given by the process that starts it. */
export interface Given extends Machine {
  helm: string;
  /** An archive with the image; nothing if a release is installed. */
  image: string | undefined;
  /** The folder of a release that is installed from a registry, instead of the checkout's chart. */
  release: string | undefined;
  objects: number;
}

/** Says what was seen, with a figure. */
export type Say = (line: string) => void;

/** Two names of one image: which version it is does not matter to how it is rolled out. */
export const CURRENT = "0.1.0";
export const NEXT = "next";
