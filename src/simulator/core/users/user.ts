import { z } from "zod";
import { errorCode, refusal } from "../../http/refusal.ts";
import { isAdministrator } from "../../identity/privileges.ts";
import { textIn } from "../../store/resource.ts";
import type { Kind } from "../kind/kind.ts";

/**
 * A user of the contract. The resource has the name of the person; e-mail address, password and rights are in the
 * account of the same id, with which the user logs in.
 */
export const user: Kind = {
  type: "user",
  collection: "um/users",
  param: "userId",
  parents: [""],
  verbs: { collection: "GP", item: "GUD" },
  paged: true,
  schema: z.object({
    firstname: z.string().min(1),
    lastname: z.string(),
    email: z.email(),
    password: z.string().min(8).nullish(),
    administrator: z.boolean().nullish(),
    forceSecAuth: z.boolean().nullish(),
    active: z.boolean().nullish(),
  }),
  writeOnly: ["email", "password", "administrator", "active"],
  defaults: { forceSecAuth: false },
  links: [{ collection: "groups", type: "group", param: "groupId", verbs: { collection: "", item: "" } }],

  shape(draft) {
    const { world, key, given, next, previous } = draft;
    const id = key.slice(key.lastIndexOf("/") + 1);
    const account = world.identity.users.get(id);
    const password = textIn(given, "password") ?? account?.password;
    if (password === undefined) draft.fault("password", "is required");
    if (previous === null) next.s3CanonicalUserId = world.chance.uuid("s3-canonical-user").replaceAll("-", "");
    if (account?.role === "owner") {
      if (given.administrator === false) draft.fault("administrator", "the owner of the contract stays administrator");
      if (given.active === false) draft.fault("active", "the owner of the contract stays active");
    }
    const role = given.administrator === true ? "administrator" : "user";
    world.identity.save({
      id,
      username: textIn(given, "email") ?? "",
      password: password ?? "",
      role: account?.role === "owner" ? "owner" : role,
      twoFactor: account?.twoFactor ?? false,
      active: given.active !== false,
      privileges: account?.privileges ?? [],
    });
  },

  guard({ identity }, { id }, write) {
    if (write === "delete" && identity.users.get(id)?.role === "owner") {
      throw refusal(403, errorCode.denied, "Access denied: the owner of the contract cannot be deleted");
    }
  },

  deleted: (world, { id }) => world.identity.close(id),

  view({ identity }, { id, properties }) {
    const account = identity.users.get(id);
    return {
      ...properties,
      email: account?.username,
      administrator: account !== undefined && isAdministrator(account),
      secAuthActive: account?.twoFactor ?? false,
      active: account?.active ?? false,
    };
  },
};
