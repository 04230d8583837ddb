import { contextTokens } from "../kinds/inference/context.ts";
import type { Price } from "../kinds/inference/prices.ts";
import type { Access, Accesses } from "./access/access.ts";
import { isLimited } from "./access/budget.ts";
import { type Asked, askedIn, type Body, bodyIn, bodyOf, jsonIn, type TokenLimit } from "./asked.ts";
import type { Counted, GatewayParts } from "./parts.ts";
import { notAllowed, Refused } from "./refused.ts";
import { chatBodyOf, type ResponsesCall, responsesCallIn } from "./responses/request.ts";

/** The platform does not have this path: the gateway translates it. */
export const RESPONSES = "/v1/responses";
const CHAT = "/v1/chat/completions";

/** A call, its access, and the path to send it to. */
export interface Understood {
  asked: Asked;
  sentTo: string;
  access: Access;
  price: Price | undefined;
  /** Set if the answer must be translated for this call. */
  responses: ResponsesCall | undefined;
}

/** The maximum tokens if neither the call nor its namespace sets any, and the minimum if the prompt leaves no room. */
const USUAL_TOKENS = 4096;
const LEAST_TOKENS = 16;

/** A call without a maximum gets the maximum of its namespace or the default, limited by the context of the model. */
function tokenLimit({ tokensPerCall }: Access, { fields, size }: Body): TokenLimit {
  const usual = tokensPerCall ?? USUAL_TOKENS;
  // A token has three bytes on average.
  const context = contextTokens[fields.model];
  const room = (context ?? Number.POSITIVE_INFINITY) - Math.ceil(size / 3);
  return { most: tokensPerCall, usual: Math.min(usual, Math.max(LEAST_TOKENS, room)), context };
}

/** The access of a namespace that allows a model. Throws `Refused` if there is none. */
function accessFor(accesses: Accesses, namespace: string, model: string): Access {
  const own = accesses.of(namespace);
  const access = own.find(({ models }) => models.includes(model));
  if (access !== undefined) return access;
  const allowed = own.flatMap(({ models }) => models);
  throw notAllowed(namespace, model, allowed);
}

/** Parses a body and finds its access. The parsed body is not kept. */
export function understand(
  { accesses, prices }: Pick<GatewayParts, "accesses" | "prices">,
  bytes: Buffer,
  path: string,
  counted: Counted,
): Understood {
  const responses = path === RESPONSES ? responsesCallIn(jsonIn(bytes)) : undefined;
  const body = responses ? bodyOf(chatBodyOf(responses), bytes.length) : bodyIn(bytes);
  const { model } = body.fields;
  const access = accessFor(accesses, counted.namespace, model);
  counted.model = model;
  const price = prices[model];
  if (price === undefined && isLimited(access)) {
    const message = `the price of ${model} is not known, so it cannot be used with a budget`;
    throw new Refused(403, "price_unknown", message);
  }
  const sentTo = responses ? CHAT : path;
  const asked = askedIn(body, sentTo, tokenLimit(access, body));
  // The call stays in memory until it is answered, so a Responses call keeps only the part that its answer repeats.
  return { asked, sentTo, access, price, responses: responses && { ...responses, input: "" } };
}
