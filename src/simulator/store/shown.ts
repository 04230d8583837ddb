import { z } from "zod";
import { timestamp } from "../time.ts";

/** The columns that decide whether reads show a row. */
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
export const isListed = (
  row: Shown & { createdAt: number },
  { at, effects }: { at: number; effects: { hideYoungerThan: number } },
) => isVisible(row, at) && row.createdAt + effects.hideYoungerThan <= at;

/** Creation and last change of a row, with the ids of the users. */
export const stamps = {
  createdAt: z.number(),
  createdBy: z.string(),
  modifiedAt: z.number(),
  modifiedBy: z.string(),
};

export type Stamps = z.infer<z.ZodObject<typeof stamps>>;

interface Accounts {
  identity: { users: { get(id: string): { username: string } | undefined } };
}

/** Stamps as metadata shows them, by a clock that is off by `skew`. */
export function shownStamps({ identity }: Accounts, skew: number, of: Stamps) {
  const nameOf = (userId: string) => identity.users.get(userId)?.username ?? "";
  return {
    createdDate: timestamp(of.createdAt + skew),
    createdBy: nameOf(of.createdBy),
    createdByUserId: of.createdBy,
    lastModifiedDate: timestamp(of.modifiedAt + skew),
    lastModifiedBy: nameOf(of.modifiedBy),
    lastModifiedByUserId: of.modifiedBy,
  };
}
