import type { IncomingMessage } from "node:http";
import { BlockList, isIPv6 } from "node:net";
import type { Access, Caller } from "../http/exchange.ts";
import { errorCode, Refusal, refusal } from "../http/refusal.ts";
import { same, unauthorized } from "../identity/identity.ts";
import type { Contracts } from "../world.ts";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether a peer is on this machine. IPv4 peers of a dual-stack socket arrive as `::ffff:127.0.0.1`. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  return loopback.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

const nobody: Caller = {
  contractNumber: 0,
  user: { id: "", username: "", password: "", role: "user", twoFactor: false, active: true, privileges: [] },
  tokenId: null,
};

export interface Gate {
  /** Admits a call to a route of the given access and gives the caller; throws 401 or 403. */
  admit(request: IncomingMessage, access: Access): Caller;
  /** The caller without a check of access; undefined: no valid credentials. */
  recognize(request: IncomingMessage): Caller | undefined;
}

/** The caller whom a contract knows, or why it refuses him; undefined: it does not know him. */
function outcomeOf(authenticate: () => Caller | undefined): { caller?: Caller; error?: unknown } | undefined {
  try {
    const caller = authenticate();
    return caller && { caller };
  } catch (error) {
    return { error };
  }
}

/** `steeringToken` is the only token that opens the control endpoints. */
export function createGate(contracts: Contracts, steeringToken: string): Gate {
  function local({ socket }: IncomingMessage): Caller {
    if (isLoopback(socket.remoteAddress)) return nobody;
    throw refusal(403, errorCode.denied, "This path is only open to callers on the simulator's own machine");
  }

  function steering(request: IncomingMessage): Caller {
    local(request);
    const { headers } = request;
    const token = /^bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
    if (token === undefined) throw refusal(401, errorCode.unauthorized, "Send the simulator's token as bearer token");
    if (!same(token, steeringToken)) {
      throw refusal(403, errorCode.denied, "The control endpoints need the simulator's own token");
    }
    return nobody;
  }

  /**
   * A token belongs to one contract. Users of several contracts may have the same name and password; the header then
   * selects one. A contract that refuses the user, for example without a second factor, does not refuse him for the others.
   */
  function user({ headers }: IncomingMessage): Caller {
    const known = contracts.all().flatMap(({ contractNumber, identity }) => {
      const found = outcomeOf(() => identity.authenticate(headers.authorization));
      return found ? [{ contractNumber, ...found }] : [];
    });
    const first = known.find(({ caller }) => caller) ?? known[0];
    if (first === undefined) throw unauthorized("The credentials are not valid: they are wrong, or were revoked");
    const contract = headers["x-contract-number"];
    const isChosen = contract !== undefined && first.caller !== undefined;
    const chosen = isChosen ? known.find((each) => each.contractNumber === Number(contract)) : first;
    if (chosen?.caller) return chosen.caller;
    if (chosen) throw chosen.error;
    throw refusal(403, errorCode.denied, "Access denied: the contract of X-Contract-Number is not yours");
  }

  return {
    admit(request, access) {
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
    },
    recognize(request) {
      try {
        return user(request);
      } catch (error) {
        if (error instanceof Refusal) return undefined;
        throw error;
      }
    },
  };
}
