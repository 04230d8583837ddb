import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import { unknownModel } from "../kinds/inference/catalogue.ts";
import { costOf, type Price, type Usage } from "../kinds/inference/prices.ts";
import type { Access, Accesses } from "./access/access.ts";
import type { Budgets } from "./access/budget.ts";
import type { Callers } from "./access/callers.ts";
import { streamMeter, wholeMeter } from "./answer/meter.ts";
import { pass } from "./answer/pass.ts";
import { type Asked, askedIn } from "./asked.ts";
import type { Bodies } from "./bodies.ts";
import { createCatalogue } from "./catalogue.ts";
import type { GatewayMetrics } from "./metrics.ts";
import { Refused } from "./refused.ts";
import { attempt } from "./turn/attempts.ts";
import type { Shares } from "./turn/shares.ts";
import type { Upstream } from "./turn/upstream.ts";

export interface GatewayParts {
  clock: Clock;
  log: Logger;
  callers: Callers;
  accesses: Accesses;
  budgets: Budgets;
  prices: Readonly<Record<string, Price>>;
  bodies: Bodies;
  /** The contract's rates: one for pictures, one for all else. */
  shares: Shares;
  imageShares: Shares;
  upstream: Upstream;
  metrics: GatewayMetrics;
  random: () => number;
}

/** Whom an answer is counted for, as far as it is known. */
interface Counted {
  namespace: string;
  model?: string;
}

/** All that is passed on. Whatever else a path says leads nowhere. */
const posts = new Set(["/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/images/generations"]);

/** Answers one call; `signal` ends it. Resolves in any case. */
export type Handler = (request: IncomingMessage, response: ServerResponse, signal: AbortSignal) => Promise<void>;

export function createHandler(parts: GatewayParts): Handler {
  const { clock, log, callers, accesses, bodies, metrics } = parts;

  const attemptsOf = (shares: Shares) => ({ ...parts, shares, answered: metrics.upstream, waited: metrics.waited });

  /** Asked for on behalf of all: its turn is nobody's. */
  const catalogue = createCatalogue(clock, (signal) =>
    attempt(attemptsOf(parts.shares), "", { method: "GET", path: "/v1/models" }, signal),
  );

  async function listModels(namespace: string, response: ServerResponse): Promise<void> {
    const allowed = new Set(accesses.of(namespace).flatMap(({ models }) => models));
    const data = (await catalogue()).filter(({ id }) => allowed.has(id));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ object: "list", data }));
  }

  async function forward(
    path: string,
    counted: Counted,
    request: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const held = await bodies.read(request);
    try {
      const asked = askedIn(held.bytes);
      const access = accessFor(counted.namespace, asked.model);
      counted.model = asked.model;
      const price = parts.prices[asked.model];
      if (price === undefined && access.eurPerDay !== undefined) {
        const message = `the price of ${asked.model} is not known, so it cannot be used with a budget`;
        throw new Refused(403, "price_unknown", message);
      }
      const reservation = await parts.budgets.reserve(access, price ? costOf(asked.atMost, price) : 0);
      let usage: Usage = { input: 0, output: 0 };
      try {
        const shares = path.startsWith("/v1/images/") ? parts.imageShares : parts.shares;
        const call = { method: "POST", path, body: asked.body } as const;
        const answer = await attempt(attemptsOf(shares), counted.namespace, call, signal);
        held.release();
        usage = await deliver(asked, answer, response, (spent) => {
          usage = spent;
        });
      } finally {
        const eur = price && costOf(usage, price);
        reservation.settle(eur ?? 0);
        metrics.used(counted.namespace, asked.model, usage, eur);
      }
    } finally {
      held.release();
    }
  }

  /** What it has used, also by `spent` when it breaks off. */
  async function deliver(
    asked: Asked,
    answer: Awaited<ReturnType<typeof attempt>>,
    response: ServerResponse,
    spent: (usage: Usage) => void,
  ): Promise<Usage> {
    const { statusCode } = answer;
    // About the gateway's own credentials the client can do nothing, and is told nothing.
    if (statusCode === 401 || statusCode === 403) {
      await answer.body.dump();
      log.error({ status: statusCode }, "the platform refuses the gateway's token");
      throw new Refused(502, "upstream_unauthorized", "the platform refuses the gateway's token");
    }
    if (statusCode === 404) await checkExists(asked.model);
    const isStream = String(answer.headers["content-type"]).startsWith("text/event-stream");
    const meter = isStream ? streamMeter(asked.hidesUsage) : wholeMeter();
    const told = (): Usage => {
      if (statusCode >= 400) return { input: 0, output: 0 };
      const output = isStream ? Math.min(meter.events, asked.atMost.output) : asked.atMost.output;
      return meter.usage() ?? { input: asked.atMost.input, output };
    };
    try {
      await pass(clock, answer, meter, response);
    } catch (error) {
      spent(told());
      throw error;
    }
    return told();
  }

  /** What the platform does not find may be a model that it does not have: then those are named that it has. */
  async function checkExists(model: string): Promise<void> {
    const ids = await catalogue().then(
      (models) => models.map(({ id }) => id),
      () => [model],
    );
    if (ids.includes(model)) return;
    throw new Refused(404, "model_not_found", unknownModel(model, ids));
  }

  function accessFor(namespace: string, model: string): Access {
    const own = accesses.of(namespace);
    const access = own.find(({ models }) => models.includes(model));
    if (access !== undefined) return access;
    const allowed = own.flatMap(({ models }) => models);
    const hint = allowed.length === 0 ? "it has no InferenceAccess" : `it may use ${allowed.slice(0, 20).join(", ")}`;
    throw new Refused(403, "model_not_allowed", `namespace ${namespace} may not use ${model}; ${hint}`);
  }

  async function answer(counted: Counted, request: IncomingMessage, response: ServerResponse, signal: AbortSignal) {
    const [path = ""] = (request.url ?? "").split("?");
    const isModels = request.method === "GET" && path === "/v1/models";
    if (!isModels && !(request.method === "POST" && posts.has(path))) {
      throw new Refused(404, "not_found", `there is GET /v1/models and POST ${[...posts].join(", ")}`);
    }
    counted.namespace = await callers(request.headers.authorization);
    if (isModels) await listModels(counted.namespace, response);
    else await forward(path, counted, request, response, signal);
  }

  return async (request, response, signal) => {
    const counted: Counted = { namespace: "" };
    try {
      await answer(counted, request, response, signal);
    } catch (error) {
      end(request, response, error, signal);
    }
    if (counted.namespace !== "") metrics.served(counted.namespace, counted.model, response.statusCode);
  };

  function end(request: IncomingMessage, response: ServerResponse, error: unknown, signal: AbortSignal): void {
    if (response.headersSent || signal.aborted) {
      response.statusCode = 499;
      return void response.destroy();
    }
    if (!(error instanceof Refused)) log.error({ err: error }, "a call failed");
    const refused = error instanceof Refused ? error : new Refused(500, "internal_error", "the gateway failed");
    // What is left of the body is not read: the connection ends with the answer.
    const close = request.complete ? {} : { connection: "close" };
    const headers = { "content-type": "application/json", ...refused.headers, ...close };
    response.writeHead(refused.status, headers).end(refused.body);
    request.resume();
  }
}
