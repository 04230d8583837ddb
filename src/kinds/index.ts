import { account } from "./account.ts";
import { datacenter } from "./datacenter.ts";
import type { Kind } from "./kind.ts";
import { server } from "./server.ts";

/** Every kind there is. A kind exists when its line is here. */
export const kinds: readonly Kind[] = [account, datacenter, server];

export const GROUP = "mooring.dev";
export const VERSION = "v1alpha1";
