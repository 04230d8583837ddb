import { lifeWithPassword } from "./login.ts";
import type { Subject } from "./subject.ts";
import { accountSpec } from "./surroundings.ts";

export const account: Subject = {
  kind: "Account",
  spec: accountSpec({ api: "https://api.example.com", nth: 0 }),
  life: (ground) => lifeWithPassword(accountSpec(ground), ground),
};
