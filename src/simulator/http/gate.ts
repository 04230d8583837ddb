import type { IncomingMessage } from "node:http";
import type { Identity } from "../identity/identity.ts";
import type { Access, Caller } from "./exchange.ts";
import { isLoopback } from "./loopback.ts";
import { errorCode, refusal } from "./refusal.ts";

const nobody: Caller = {
  user: { id: "", username: "", password: "", role: "user", twoFactor: false, active: true, privileges: [] },
  tokenId: null,
};

/** Lets a call through to a route of the given access and says who calls; throws 401 or 403. */
export function createGate(identity: Identity, contractNumber: number) {
  function local({ socket }: IncomingMessage): Caller {
    if (isLoopback(socket.remoteAddress)) return nobody;
    throw refusal(403, errorCode.denied, "The simulator is steered and looked at from its own machine only");
  }

  function steering(request: IncomingMessage): Caller {
    local(request);
    const { headers } = request;
    const token = /^bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
    if (token === undefined) throw refusal(401, errorCode.unauthorized, "Send the simulator's token as bearer token");
    if (!identity.isSteeringToken(token)) {
      throw refusal(403, errorCode.denied, "Only the simulator's own token steers it");
    }
    return nobody;
  }

  function user({ headers }: IncomingMessage): Caller {
    const caller = identity.authenticate(headers.authorization);
    const contract = headers["x-contract-number"];
    if (contract !== undefined && Number(contract) !== contractNumber) {
      throw refusal(403, errorCode.denied, "Access denied: the contract of X-Contract-Number is not yours");
    }
    return caller;
  }

  return (request: IncomingMessage, access: Access): Caller => {
    switch (access) {
      case "open":
        return nobody;
      case "user":
        return user(request);
      case "local":
        return local(request);
      case "steering":
        return steering(request);
    }
  };
}
