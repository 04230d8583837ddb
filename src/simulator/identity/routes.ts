import type { Call, Reply, Route } from "../http/exchange.ts";
import { errorCode, missing, refusal } from "../http/refusal.ts";
import { type SimulatedClock, timestamp } from "../time.ts";
import { type Identity, lifetimes, longestLifetime, type Token } from "./identity.ts";

const base = "/auth/v1/tokens";

/** Generates, lists, reads and deletes the tokens of the calling user. */
export function tokenRoutes(identity: Identity, clock: SimulatedClock): Route[] {
  const own = (call: Call) => [...identity.tokens.values()].filter((token) => token.userId === call.caller.user.id);

  const view = (call: Call, token: Token) => ({
    id: token.id,
    href: `${call.origin}${base}/${token.id}`,
    createdDate: timestamp(token.createdAt + call.effects.skew),
    expirationDate: timestamp(token.expiresAt + call.effects.skew),
  });

  function find(call: Call): Token {
    const token = identity.tokens.get(call.params.tokenId ?? "");
    if (token?.userId !== call.caller.user.id) throw missing();
    return token;
  }

  function generate(call: Call): Reply {
    const asked = call.query.get("ttl");
    const lifetime = asked === null ? longestLifetime : Number(asked);
    if (!lifetimes.includes(lifetime)) {
      throw refusal(422, errorCode.validation, `[ttl] must be one of ${lifetimes.join(", ")} seconds`);
    }
    const token = identity.mint(call.caller.user, lifetime, call.effects.skew);
    const newest = [...identity.tokens.values()].at(-1);
    return { status: 200, body: { token }, about: [{ type: "token", id: newest?.id ?? "" }] };
  }

  function removeByCriteria(call: Call): Reply {
    const chosen = selected(call);
    for (const token of chosen) identity.tokens.delete(token.id);
    return { status: 200, body: { success: true }, about: chosen.map(({ id }) => ({ type: "token", id })) };
  }

  function selected(call: Call): Token[] {
    const criteria = call.query.get("criteria");
    switch (criteria) {
      case "ALL":
        return own(call);
      case "EXPIRED":
        return own(call).filter((token) => token.expiresAt <= clock.now());
      case "CURRENT":
        if (call.caller.tokenId === null) {
          throw refusal(422, errorCode.validation, "[criteria] CURRENT needs a bearer token");
        }
        return own(call).filter((token) => token.id === call.caller.tokenId);
      default:
        throw refusal(422, errorCode.validation, "[criteria] must be ALL, EXPIRED or CURRENT");
    }
  }

  return [
    { method: "GET", template: `${base}/generate`, access: "user", handle: generate },
    {
      method: "GET",
      template: base,
      access: "user",
      handle: (call) => ({ status: 200, body: { tokens: own(call).map((token) => view(call, token)) } }),
    },
    { method: "DELETE", template: base, access: "user", handle: removeByCriteria },
    {
      method: "GET",
      template: `${base}/{tokenId}`,
      access: "user",
      handle: (call) => ({ status: 200, body: view(call, find(call)) }),
    },
    {
      method: "DELETE",
      template: `${base}/{tokenId}`,
      access: "user",
      handle(call) {
        identity.tokens.delete(find(call).id);
        return { status: 200, body: { success: true } };
      },
    },
  ];
}
