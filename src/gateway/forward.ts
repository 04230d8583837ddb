import type { IncomingMessage, ServerResponse } from "node:http";
import { contextTokens } from "../kinds/inference/context.ts";
import { costOf, type Usage } from "../kinds/inference/prices.ts";
import type { Access } from "./access/access.ts";
import { isLimited } from "./access/budget.ts";
import { larger, type Meter, streamMeter, wholeMeter } from "./answer/meter.ts";
import { pass } from "./answer/pass.ts";
import { type Asked, askedIn, type Body, bodyIn, type TokenLimit } from "./asked.ts";
import type { Counted, GatewayParts } from "./parts.ts";
import { Refused } from "./refused.ts";
import { attempt } from "./turn/attempts.ts";

type Answered = Awaited<ReturnType<typeof attempt>>;

const none: Usage = { input: 0, output: 0 };

/** What an answer may have where neither the call nor its namespace says so. The smallest is the platform's own default. */
const USUAL_TOKENS = 4096;
const LEAST_TOKENS = 16;

/** A call that names no maximum gets that of the namespace or the usual one, and no more than the model has room for. */
function tokenLimit({ tokensPerCall }: Access, { fields, size }: Body): TokenLimit {
  const usual = tokensPerCall ?? USUAL_TOKENS;
  // Three bytes are a usual token.
  const room = (contextTokens[fields.model] ?? Number.POSITIVE_INFINITY) - Math.ceil(size / 3);
  return { most: tokensPerCall, usual: Math.min(usual, Math.max(LEAST_TOKENS, room)) };
}

/** What an answer costs: what the platform told, where it told all; else what was kept back, or more where more was seen. */
export function usedBy({ atMost }: Asked, meter: Meter, isWhole: boolean): Usage {
  const told = meter.usage();
  if (told !== undefined && (isWhole || meter.isFinal())) return told;
  return larger(larger(told, { input: 0, output: meter.events }), atMost);
}

/** Sends a call on, and pays for it. The namespace has access to some model. */
export function createForward(parts: GatewayParts, checkExists: (model: string) => Promise<void>) {
  const { clock, log, accesses, bodies, metrics } = parts;

  function accessFor(namespace: string, model: string): Access {
    const own = accesses.of(namespace);
    const access = own.find(({ models }) => models.includes(model));
    if (access !== undefined) return access;
    const allowed = own.flatMap(({ models }) => models).slice(0, 20);
    throw new Refused(
      403,
      "model_not_allowed",
      `namespace ${namespace} may not use ${model}; it may use ${allowed.join(", ")}`,
    );
  }

  /** The platform's answer, given on. Tells what it has used, also when it breaks off. */
  async function deliver(asked: Asked, answer: Answered, response: ServerResponse, used: (usage: Usage) => void) {
    const { statusCode } = answer;
    // About the gateway's own credentials the client can do nothing, and is told nothing.
    if (statusCode === 401 || statusCode === 403) {
      used(none);
      await answer.body.dump();
      log.error({ status: statusCode }, "the platform refuses the gateway's token");
      throw new Refused(502, "upstream_unauthorized", "the platform refuses the gateway's token");
    }
    const isRefusal = statusCode >= 400;
    if (isRefusal) used(none);
    if (statusCode === 404) await checkExists(asked.model);
    const isStream = String(answer.headers["content-type"]).startsWith("text/event-stream");
    const meter = isStream ? streamMeter(asked.hidesUsage) : wholeMeter();
    let isWhole = false;
    try {
      await pass(clock, answer, meter, response);
      isWhole = true;
    } finally {
      used(isRefusal ? (meter.usage() ?? none) : usedBy(asked, meter, isWhole));
    }
  }

  /** What a body asks for, and who pays. What was read of it is not kept. */
  function understand(bytes: Buffer, path: string, counted: Counted) {
    const body = bodyIn(bytes);
    const { model } = body.fields;
    const access = accessFor(counted.namespace, model);
    counted.model = model;
    const price = parts.prices[model];
    if (price === undefined && isLimited(access)) {
      const message = `the price of ${model} is not known, so it cannot be used with a budget`;
      throw new Refused(403, "price_unknown", message);
    }
    return { asked: askedIn(body, path, tokenLimit(access, body)), access, price };
  }

  /** Reads the body, which counts as memory of its namespace until it is released. */
  async function read(path: string, counted: Counted, request: IncomingMessage, response: ServerResponse) {
    const { bytes, release } = await bodies.read(request, counted.namespace, () => {
      if (request.headers.expect !== undefined) response.writeContinue();
    });
    try {
      return { ...understand(bytes, path, counted), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  return async function forward(
    path: string,
    counted: Counted,
    request: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace } = counted;
    const { asked, access, price, release } = await read(path, counted, request, response);
    try {
      const reservation = await parts.budgets.reserve(access, price ? costOf(asked.atMost, price) : 0);
      let usage = none;
      try {
        const answer = await attempt(
          {
            ...parts,
            shares: path.startsWith("/v1/images/") ? parts.imageShares : parts.shares,
            answered: metrics.upstream,
            waited: metrics.waited,
            // A client that leaves now pays for what the platform may produce.
            underWay: (isIt) => {
              usage = isIt ? asked.atMost : none;
            },
          },
          namespace,
          { method: "POST", path, body: asked.body },
          signal,
        );
        release();
        await deliver(asked, answer, response, (used) => {
          usage = used;
        });
      } finally {
        const eur = price && costOf(usage, price);
        reservation.settle(eur ?? 0);
        metrics.used(namespace, asked.model, usage, eur);
      }
    } finally {
      release();
    }
  };
}
