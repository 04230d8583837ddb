import type { Desired } from "../../../../src/kinds/desired.ts";
import { objectOf } from "../../support/fixtures.ts";

export const desired = (more: Partial<Desired>): Desired => ({
  references: [],
  mentions: [],
  secrets: [],
  lookups: () => [],
  check: undefined,
  choice: undefined,
  problem: () => undefined,
  advice: () => [],
  publication: () => undefined,
  rotation: () => undefined,
  output: undefined,
  isMeant: () => true,
  body: () => ({}),
  compare: () => ({ drift: [] }),
  query: "",
  preDelete: () => undefined,
  users: () => [],
  ...more,
});
export const child = objectOf("Server", "web");
export const waiting = (reason: string, message: string) => ({ obstacle: { reason, message } });
