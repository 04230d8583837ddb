import { z } from "zod";
import type { Effects } from "../http/effects.ts";

/** What decides whether reads show something. */
export const showing = {
  /** Before this instant reads answer as if it did not exist. */
  visibleAt: z.number(),
  /** It is being deleted, and reads do not show it meanwhile. */
  hidden: z.boolean().optional(),
};

interface Shown {
  visibleAt: number;
  hidden?: boolean | undefined;
}

/** Whether a read of it finds it at that instant. */
export const isVisible = ({ visibleAt, hidden }: Shown, at: number) => visibleAt <= at && hidden !== true;

/** Whether a list that a call asks for has it. */
export const isListed = (row: Shown & { createdAt: number }, { at, effects }: { at: number; effects: Effects }) =>
  isVisible(row, at) && row.createdAt + effects.hideYoungerThan <= at;
