import type { IncomingMessage } from "node:http";
import type { Call, Caller, Route } from "../http/exchange.ts";
import { Refusal } from "../http/refusal.ts";
import type { LoginAttempt } from "../records/activity.ts";
import type { Documents } from "../store/documents.ts";
import type { Contracts, World } from "../world.ts";
import type { Gate } from "./gate.ts";

type Attempt = Omit<LoginAttempt, "user" | "succeeded">;

/** Adds logins to the activity log: those by password, and those that failed. */
export function createLogins({
  contracts,
  documents,
  gate,
}: {
  contracts: Contracts;
  documents: Documents;
  gate: Gate;
}) {
  const note = ({ activity }: World, attempt: LoginAttempt) => documents.transaction(() => activity.login(attempt));
  return {
    /** The caller. Invalid credentials are noted in the log of the contract whose user they name. */
    admit(request: IncomingMessage, { access }: Route, attempt: Attempt): Caller {
      try {
        return gate.admit(request, access);
      } catch (error) {
        if (!(error instanceof Refusal) || error.status !== 401 || access !== "user") throw error;
        for (const world of contracts.all()) {
          const user = world.identity.named(request.headers.authorization);
          if (user !== undefined) note(world, { ...attempt, user, succeeded: false });
        }
        throw error;
      }
    },
    /** Notes an admitted call, if it logged in by password. */
    called(world: World, { access }: Route, { caller: { user, tokenId }, ...call }: Call): void {
      if (access === "user" && tokenId === null) note(world, { ...call, user, succeeded: true });
    },
  };
}

export type Logins = ReturnType<typeof createLogins>;
