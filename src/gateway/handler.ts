import type { IncomingMessage, ServerResponse } from "node:http";
import { unknownModel } from "../kinds/inference/catalogue.ts";
import { peerOf } from "../server/connections.ts";
import { createCatalogue } from "./catalogue.ts";
import { createForward, RESPONSES } from "./forward.ts";
import type { Counted, GatewayParts } from "./parts.ts";
import { notAllowed, Refused } from "./refused.ts";
import { attempt } from "./turn/attempts.ts";

/** All paths that are passed on. Any other path is refused. */
const posts = new Set([
  "/v1/chat/completions",
  RESPONSES,
  "/v1/completions",
  "/v1/embeddings",
  "/v1/images/generations",
]);
const ONE_MODEL = "/v1/models/";
/** How metrics count a call that its client left. */
const CLIENT_LEFT = 499;

/** Answers one call; `signal` cancels it. Never rejects. */
export type Handler = (request: IncomingMessage, response: ServerResponse, signal: AbortSignal) => Promise<void>;

export function createHandler(parts: GatewayParts): Handler {
  const { clock, log, callers, accesses, metrics } = parts;
  const callbacks = { answered: metrics.upstream, waited: metrics.waited, underWay() {} };

  /** The list serves all namespaces, so its call takes a turn without a namespace. */
  const catalogue = createCatalogue(clock, (signal) =>
    attempt({ ...parts, ...callbacks }, "", { method: "GET", path: "/v1/models" }, signal),
  );
  const forward = createForward(parts, checkExists);

  async function listModels(namespace: string, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const allowed = new Set(accesses.of(namespace).flatMap(({ models }) => models));
    const data = (await catalogue(signal)).filter(({ id }) => allowed.has(id));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ object: "list", data }));
  }

  /** One model that the namespace may use. */
  async function showModel(
    namespace: string,
    id: string,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    await checkExists(id, signal);
    const allowed = accesses.of(namespace).flatMap(({ models }) => models);
    if (!allowed.includes(id)) throw notAllowed(namespace, id, allowed);
    const found = (await catalogue(signal)).find((each) => each.id === id);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(found));
  }

  /** Throws `Refused` with the valid models if the platform does not have this one. */
  async function checkExists(model: string, signal: AbortSignal): Promise<void> {
    const ids = await catalogue(signal).then(
      (models) => models.map(({ id }) => id),
      // Without the list, the model is assumed to exist.
      () => [model],
    );
    if (ids.includes(model)) return;
    throw new Refused(404, "model_not_found", unknownModel(model, ids));
  }

  async function answer(counted: Counted, request: IncomingMessage, response: ServerResponse, signal: AbortSignal) {
    const [path = ""] = (request.url ?? "").split("?");
    const isModels = request.method === "GET" && path === "/v1/models";
    const model = request.method === "GET" && path.startsWith(ONE_MODEL) ? nameIn(path.slice(ONE_MODEL.length)) : "";
    if (!isModels && model === "" && !(request.method === "POST" && posts.has(path))) {
      throw new Refused(
        404,
        "not_found",
        `unknown path; valid: GET /v1/models, GET /v1/models/{id}, POST ${[...posts].join(", POST ")}`,
      );
    }
    const namespace = await callers(request.headers.authorization, peerOf(request.socket));
    counted.namespace = namespace;
    if (isModels) return listModels(namespace, response, signal);
    if (model !== "") return showModel(namespace, model, response, signal);
    // Checked before any byte of the body is read.
    if (accesses.of(namespace).length === 0) {
      throw new Refused(403, "model_not_allowed", `namespace ${namespace} may use no model; it has no InferenceAccess`);
    }
    if (!parts.calls.take(namespace)) {
      const message = `namespace ${namespace} has ${parts.calls.heldBy(namespace)} open calls, which is its limit now`;
      throw new Refused(429, "rate_limit_exceeded", message, { retryAfter: 2 });
    }
    try {
      await forward(path, counted, request, response, signal);
    } finally {
      parts.calls.giveBack(namespace);
    }
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
      // Not sent, only counted.
      response.statusCode = signal.aborted ? CLIENT_LEFT : 502;
      if (!signal.aborted) log.warn({ err: error }, "an answer of the platform broke off");
      return void response.destroy();
    }
    if (!(error instanceof Refused)) log.error({ err: error }, "a call failed");
    const refused = error instanceof Refused ? error : new Refused(500, "internal_error", "the gateway failed");
    // The rest of the body is not read, so the connection must close after the answer.
    const close = request.complete ? {} : { connection: "close" };
    const headers = { "content-type": "application/json", ...refused.headers, ...close };
    response.writeHead(refused.status, headers).end(refused.body);
    request.resume();
  }
}

/** The id of a model in a path; its slash may be escaped. "" if it is not valid. */
function nameIn(text: string): string {
  try {
    const name = decodeURIComponent(text);
    return name.length > 256 ? "" : name;
  } catch {
    return "";
  }
}
