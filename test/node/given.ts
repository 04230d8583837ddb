import type { Machine } from "./machine.ts";

/** The inputs of the node from the process that starts it. */
export interface Given extends Machine {
  helm: string;
  /** An archive with the image; undefined if a release is installed. */
  image: string | undefined;
  /** The folder of a release to install from a registry, instead of the checkout's chart. */
  release: string | undefined;
  /** The folder of a release of another version, to upgrade to. */
  next: string | undefined;
  objects: number;
}

/** Reports an observation with a figure. */
export type Say = (line: string) => void;

/** Two names for one image: the version does not matter for a rollout. */
export const CURRENT = "0.1.0";
export const NEXT = "next";
