import { z } from "zod";
import type { Kind } from "../kind/kind.ts";

export const backupUnit: Kind = {
  type: "backupunit",
  collection: "backupunits",
  param: "backupunitId",
  parents: [""],
  verbs: { collection: "GP", item: "GUAD" },
  privilege: "createBackupUnit",
  paged: false,
  schema: z.object({
    name: z.string().regex(/^[A-Za-z0-9]+$/, "must consist of letters and digits"),
    password: z.string().min(8).nullish(),
    email: z.email().nullish(),
  }),
  createOnly: ["name"],
  writeOnly: ["password"],
  keptOnPut: ["email"],
  spans: { create: [2, 4], update: [2, 4], delete: [2, 4] },
  visibleAtOnce: true,

  shape(draft) {
    const { world, given, previous } = draft;
    if (previous !== null) return;
    if (given.password === undefined) draft.fault("password", "is required");
    if (given.email === undefined) draft.fault("email", "is required");
    // The name is part of the login of the backup console.
    if ([...world.resources.ofType("backupunit")].some(({ properties }) => properties.name === given.name)) {
      draft.fault("name", `a backup unit ${given.name} exists already`);
    }
  },
};
